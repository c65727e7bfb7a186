// SPDX-License-Identifier: Apache-2.0
// Picks the tables of loops that this host can run.
#include "device/lanes.h"
#include "timing/shares.h"

namespace aclsim {

#define ACLSIM_LEVEL_TABLES(level)    \
  namespace level {                   \
  const LaneTable& Table();           \
  const SharesTable& TableOfShares(); \
  }
ACLSIM_LEVEL_TABLES(baseline)
#ifdef ACLSIM_X86_LEVELS
ACLSIM_LEVEL_TABLES(v3)
ACLSIM_LEVEL_TABLES(v4)
#endif

namespace {

struct Tables {
  LaneTable lanes;
  const SharesTable& shares;
};

Tables Choose() {
#ifdef ACLSIM_X86_LEVELS
  __builtin_cpu_init();
  const bool level3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
  if (level3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return {v4::Table(), v4::TableOfShares()};
  }
  if (level3) {
    return {v3::Table(), v3::TableOfShares()};
  }
#endif
  return {baseline::Table(), baseline::TableOfShares()};
}

const Tables& Chosen() {
  static const Tables tables = [] {
    Tables chosen = Choose();
    ApplyAlternatives(&chosen.lanes);
    return chosen;
  }();
  return tables;
}

}  // namespace

const LaneTable& Lanes() { return Chosen().lanes; }

const SharesTable& SharesLoops() { return Chosen().shares; }

}  // namespace aclsim
