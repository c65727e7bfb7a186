// SPDX-License-Identifier: Apache-2.0
#include "host/level.h"

namespace aclsim {

Level HostLevel() {
#ifdef ACLSIM_X86_LEVELS
  __builtin_cpu_init();
  const bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
  if (level3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return Level::kV4;
  }
  if (level3) {
    return Level::kV3;
  }
#endif
  return Level::kBaseline;
}

}  // namespace aclsim
