// SPDX-License-Identifier: Apache-2.0
// The configuration of HCCL, which frameworks set whether or not they communicate.
#include <atomic>
#include <cstdint>

#include "runtime/errors.h"

namespace aclsim {

namespace {

// HCCL's public header has these.
constexpr int32_t kHcclParameter = 1;
constexpr int32_t kDeterministic = 0;
union HcclConfigValue {
  int32_t value;
};

std::atomic<int32_t> deterministic{0};

int32_t CheckConfig(const Api& api, int32_t config) {
  return config == kDeterministic
             ? 0
             : api.Fail(kHcclParameter, "config is %d, want HCCL_DETERMINISTIC (0)", config);
}

}  // namespace

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;

extern "C" {

int32_t HcclSetConfig(int32_t config, aclsim::HcclConfigValue configValue) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckConfig(api, config));
    aclsim::deterministic = configValue.value;
    return 0;
  });
}

int32_t HcclGetConfig(int32_t config, aclsim::HcclConfigValue* configValue) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckConfig(api, config));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(configValue, "configValue") != 0 ? aclsim::kHcclParameter
                                                                        : 0);
    configValue->value = aclsim::deterministic;
    return 0;
  });
}

}  // extern "C"
