// SPDX-License-Identifier: Apache-2.0
// Switches, limits and parameters that a program sets and asks for; versions.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "host/options.h"
#include "runtime/state.h"
#include "runtime/stream.h"
#include "soc/soc.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

// The toolkit offers what is of this version of CANN.
constexpr const char* kCannVersion = "9.0.0";
constexpr std::array kCannParts = {"9", "0", "0"};

int32_t CheckParameter(const Api& api, int opt, int last) {
  return opt >= 0 && opt <= last
             ? 0
             : api.Fail(ACL_ERROR_INVALID_PARAM, "opt is %d, want an aclSysParamOpt of 0 to %d",
                        opt, last);
}

// A member of aclrtStreamAttrValue: how messages call it, its bytes, and the largest value.
struct Attribute {
  const char* name;
  size_t bytes;
  uint64_t most;
};

constexpr Attribute kAttributes[] = {
    // In the order of aclrtStreamAttr, which begins with 1.
    {"the failure mode", sizeof(uint64_t), 1},
    {"the overflow switch", sizeof(uint32_t), 1},
    {"the tag", sizeof(uint32_t), UINT32_MAX},
    {"the switch of operator information", sizeof(uint32_t), 1},
    {"the priority", sizeof(uint32_t), UINT32_MAX},
};
static_assert(std::size(kAttributes) == ACL_STREAM_ATTR_PRIORITY);
static_assert(std::size(kAttributes) == std::tuple_size_v<decltype(Stream::Attributes::values)>);

int32_t FindAttribute(const Api& api, aclrtStream handle, aclrtStreamAttr kind,
                      std::shared_ptr<Stream>* stream, size_t* index) {
  int32_t error = 0;
  *stream = FindStream(api, handle, &error);
  if (*stream == nullptr) {
    return error;
  }
  *index = static_cast<size_t>(kind) - 1;
  return *index < std::size(kAttributes)
             ? 0
             : api.Fail(ACL_ERROR_INVALID_PARAM,
                        "the attribute is %d, want an aclrtStreamAttr of 1 to %d",
                        static_cast<int>(kind), static_cast<int>(std::size(kAttributes)));
}

int32_t SetAttribute(const Api& api, aclrtStream handle, aclrtStreamAttr kind,
                     const aclrtStreamAttrValue& value) {
  std::shared_ptr<Stream> stream;
  size_t index = 0;
  ACLSIM_RETURN_IF_ERROR(FindAttribute(api, handle, kind, &stream, &index));
  const Attribute& attribute = kAttributes[index];
  uint64_t got = 0;
  std::memcpy(&got, &value, attribute.bytes);
  if (got > attribute.most) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "%s is %llu, want 0 or 1", attribute.name,
                    static_cast<Ull>(got));
  }
  stream->attributes().values[index] = got;
  if (kind == ACL_STREAM_ATTR_FAILURE_MODE) {
    stream->attributes().goesOn = got == ACL_CONTINUE_ON_FAILURE;
  }
  return 0;
}

int32_t GetAttribute(const Api& api, aclrtStream handle, aclrtStreamAttr kind,
                     aclrtStreamAttrValue* value) {
  std::shared_ptr<Stream> stream;
  size_t index = 0;
  ACLSIM_RETURN_IF_ERROR(FindAttribute(api, handle, kind, &stream, &index));
  const uint64_t kept = stream->attributes().values[index];
  std::memcpy(value, &kept, kAttributes[index].bytes);
  return 0;
}

int32_t KeepExecuteLimit(uint64_t microseconds) {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  state.executeLimitUs = microseconds;
  SetExecuteLimit(static_cast<double>(microseconds) / 1e6);
  return 0;
}

// The driver is no part of the simulator.
int32_t CheckPackage(const Api& api, const char* name) {
  return strcasecmp(name, "driver") != 0
             ? 0
             : api.Fail(ACL_ERROR_INVALID_FILE, "there is no driver: the device is simulated");
}

}  // namespace

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;
using aclsim::State;

extern "C" {

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "mode is %d, want 0 (saturation) or 1 (Inf and NaN)", static_cast<int>(mode));
    }
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.saturation = mode;
    return 0;
  });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(mode, "mode"));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    *mode = static_cast<aclrtFloatOverflowMode>(state.saturation);
    return 0;
  });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    return aclsim::SetAttribute(api, stream, stmAttrType, *value);
  });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    return aclsim::GetAttribute(api, stream, stmAttrType, value);
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(stream, "stream"));
    aclrtStreamAttrValue value{};
    value.failureMode = mode;
    return aclsim::SetAttribute(api, stream, ACL_STREAM_ATTR_FAILURE_MODE, value);
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return Enter(__func__, [&](const Api& api) {
    aclrtStreamAttrValue value{};
    value.overflowSwitch = flag;
    return aclsim::SetAttribute(api, stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, value);
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(flag, "flag"));
    aclrtStreamAttrValue value{};
    ACLSIM_RETURN_IF_ERROR(
        aclsim::GetAttribute(api, stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
    *flag = value.overflowSwitch;
    return 0;
  });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return Enter(__func__, [&](const Api&) -> int32_t {
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.waitLimitSeconds = timeout;
    return 0;
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return Enter(__func__,
               [&](const Api&) { return aclsim::KeepExecuteLimit(uint64_t{timeout} * 1'000'000); });
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  return Enter(__func__,
               [&](const Api&) { return aclsim::KeepExecuteLimit(uint64_t{timeout} * 1000); });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(actualTimeout, "actualTimeout"));
    *actualTimeout = timeout;
    return aclsim::KeepExecuteLimit(timeout);
  });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(timeoutMs, "timeoutMs"));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    *timeoutMs = static_cast<uint32_t>(state.executeLimitUs / 1000);
    return 0;
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckParameter(api, opt, ACL_OPT_ENABLE_KERNEL_EARLY_START));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.systemParameters[opt] = value;
    return 0;
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckParameter(api, opt, ACL_OPT_ENABLE_KERNEL_EARLY_START));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    const auto found = state.systemParameters.find(opt);
    *value = found != state.systemParameters.end() ? found->second : 0;
    return 0;
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<aclsim::Context> context;
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckParameter(api, opt, ACL_OPT_STRONG_CONSISTENCY));
    ACLSIM_RETURN_IF_ERROR(api.Current(&context));
    const std::lock_guard lock(aclsim::Global().mutex);
    context->systemParameters[opt] = value;
    return 0;
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<aclsim::Context> context;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckParameter(api, opt, ACL_OPT_STRONG_CONSISTENCY));
    ACLSIM_RETURN_IF_ERROR(api.Current(&context));
    const std::lock_guard lock(aclsim::Global().mutex);
    const auto found = context->systemParameters.find(opt);
    if (found == context->systemParameters.end()) {
      return api.Fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                      "system parameter %d was not set for this context", static_cast<int>(opt));
    }
    *value = found->second;
    return 0;
  });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    static constexpr aclCannAttr kAll[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                           ACL_CANN_ATTR_JIT_COMPILE};
    ACLSIM_RETURN_IF_ERROR(api.NotNull(cannAttrList, "cannAttrList"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(num, "num"));
    *cannAttrList = kAll;
    *num = std::size(kAll);
    return 0;
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    const aclsim::Soc& soc = aclsim::CurrentSoc();
    switch (static_cast<int>(cannAttr)) {
      case ACL_CANN_ATTR_INF_NAN:  // came with Atlas A2, as bf16 did
      case ACL_CANN_ATTR_BF16:
        *value = soc.bf16 ? 1 : 0;
        return 0;
      case ACL_CANN_ATTR_JIT_COMPILE:
        *value = 1;
        return 0;
      default:
        return api.Fail(ACL_ERROR_INVALID_PARAM, "cannAttr is %d, want an aclCannAttr of 0 to 2",
                        static_cast<int>(cannAttr));
    }
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(version, "version"));
    if (static_cast<unsigned>(name) > ACL_PKG_NAME_DRIVER) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "name is %d, want an aclCANNPackageName",
                      static_cast<int>(name));
    }
    ACLSIM_RETURN_IF_ERROR(
        aclsim::CheckPackage(api, name == ACL_PKG_NAME_DRIVER ? "driver" : "CANN"));
    *version = {};
    std::strcpy(version->version, aclsim::kCannVersion);
    std::strcpy(version->majorVersion, aclsim::kCannParts[0]);
    std::strcpy(version->minorVersion, aclsim::kCannParts[1]);
    std::strcpy(version->releaseVersion, aclsim::kCannParts[2]);
    return 0;
  });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(pkgName, "pkgName"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(versionStr, "versionStr"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckPackage(api, pkgName));
    std::strcpy(versionStr, aclsim::kCannVersion);
    return 0;
  });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(pkgName, "pkgName"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(versionNum, "versionNum"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckPackage(api, pkgName));
    constexpr int32_t kWeights[] = {10'000'000, 100'000, 1'000};  // 9.0.0 is 90000000
    *versionNum = 0;
    for (size_t i = 0; i < std::size(kWeights); ++i) {
      *versionNum += kWeights[i] * std::atoi(aclsim::kCannParts[i]);
    }
    return 0;
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(status, "status"));
    if (aclsim::FindStream(api, stream, &error) == nullptr) {
      return error;
    }
    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (modelRI != nullptr) {
      *modelRI = nullptr;
    }
    return 0;
  });
}

}  // extern "C"
