// SPDX-License-Identifier: Apache-2.0
// The lanes that this host can run, with what a board does otherwise.
#include <iterator>

#include "device/lanes.h"
#include "host/level.h"

namespace aclsim {

ACLSIM_OF_HOST(LaneTable, Table)

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

const LaneTable& Lanes() {
  static const LaneTable chosen = [] {
    LaneTable table = OfHost();
    ApplyAlternatives(&table);
    ShareWithRegisters(&table);
    return table;
  }();
  return chosen;
}

}  // namespace aclsim
