// SPDX-License-Identifier: Apache-2.0
// Picks the lane table that this host can run.
#include "device/lanes.h"

namespace aclsim {

namespace baseline {
const LaneTable& Table();
}
#ifdef ACLSIM_X86_LEVELS
namespace v3 {
const LaneTable& Table();
}
namespace v4 {
const LaneTable& Table();
}
#endif

namespace {

const LaneTable& Choose() {
#ifdef ACLSIM_X86_LEVELS
  __builtin_cpu_init();
  const bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
  if (level3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return v4::Table();
  }
  if (level3) {
    return v3::Table();
  }
#endif
  return baseline::Table();
}

}  // namespace

const LaneTable& Lanes() {
  static const LaneTable& table = Choose();
  return table;
}

}  // namespace aclsim
