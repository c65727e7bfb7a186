// SPDX-License-Identifier: Apache-2.0
#include "runtime/unsupported.h"

#include "runtime/errors.h"

namespace aclsim {

int32_t Unsupported(const char* function, const char* feature, const char* instead,
                    int32_t code) noexcept {
  return Enter(function, [&](const Api& api) {
    return api.Fail(code, "the simulator does not have %s. Next: %s", feature, instead);
  });
}

}  // namespace aclsim
