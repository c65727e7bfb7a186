// SPDX-License-Identifier: Apache-2.0
// Picks the tables of loops that this host can run.
#include <iterator>

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
    ShareWithRegisters(&chosen.lanes);
    return chosen;
  }();
  return tables;
}

}  // namespace

void ShareWithRegisters(LaneTable* table) {
  constexpr struct {
    RegOp2 to;
    Op2 from;
  } kTwo[] = {{RegOp2::kAdd, Op2::kAdd}, {RegOp2::kSub, Op2::kSub}, {RegOp2::kMul, Op2::kMul},
              {RegOp2::kDiv, Op2::kDiv}, {RegOp2::kMax, Op2::kMax}, {RegOp2::kMin, Op2::kMin}};
  constexpr struct {
    RegOp1 to;
    Op1 from;
  } kOne[] = {{RegOp1::kExp, Op1::kExp},
              {RegOp1::kLn, Op1::kLn},
              {RegOp1::kAbs, Op1::kAbs},
              {RegOp1::kSqrt, Op1::kSqrt},
              {RegOp1::kRelu, Op1::kRelu}};
  for (size_t dtype = 0; dtype < kDTypes; ++dtype) {
    for (const auto& same : kTwo) {
      if (const auto lanes = table->binary[static_cast<size_t>(same.from)][dtype]) {
        table->regBinary[static_cast<size_t>(same.to)][dtype] = lanes;
      }
    }
    for (const auto& same : kOne) {
      if (const auto lanes = table->unary[static_cast<size_t>(same.from)][dtype]) {
        table->regUnary[static_cast<size_t>(same.to)][dtype] = lanes;
      }
    }
    for (size_t op = 0; op < std::size(table->compare); ++op) {
      if (table->compare[op][dtype] != nullptr) {
        table->regCompare[op][dtype] = table->compare[op][dtype];
      }
    }
  }
}

const LaneTable& Lanes() { return Chosen().lanes; }

const SharesTable& SharesLoops() { return Chosen().shares; }

}  // namespace aclsim
