// SPDX-License-Identifier: Apache-2.0
// RowReducePlanner is the base of the plans of full load (full_load_tiling.cpp) and of shared axes (shared_axis.cpp).
#ifndef OP_HOST_COMMON_ROW_REDUCE_PLANNER_H_
#define OP_HOST_COMMON_ROW_REDUCE_PLANNER_H_

#include <cstdint>
#include <string>

#include "common/row_reduce_tiling.h"
#include "common/row_reduce_ub.h"
#include "common/ub_budget.h"

namespace optiling {

// Columns that lie side by side form rows of `lanes` lanes (op_kernel/common/side_by_side.h).
// `rows` is 0 where none do.
struct SideBySide {
  int64_t rows = 0;
  int64_t lanes = 0;
};

struct RowReduceCase {
  const char* op;
  ReduceView view;
  int64_t elementBytes;
  const SocFacts& soc;
  RowStreams streams;
  SideBySide side;
};

// Columns that are no whole blocks lie side by side where a period of them is short enough for
// kSideBySideLanes, unless they are transposed.
SideBySide SideBySideOf(const RowReduceCase& wanted);

// PlanFullLoad leaves `plan->key` at 0 where no tile holds the axis. Both return an empty string, or what is wrong and what
// would be right.
std::string PlanFullLoad(const RowReduceCase& wanted, RowReducePlan* plan);
std::string PlanSharedAxis(const RowReduceCase& wanted, RowReducePlan* plan);

class RowReducePlanner {
 protected:
  static constexpr int64_t kBankGroupLanes = 128;  // fp32 lanes over all 16 bank groups of UB

  RowReducePlanner(const RowReduceCase& wanted, RowReducePlan* plan);

  // TileLanesUp and TileLanesDown round the room of an operand. y and f of fp32 lie that far apart:
  // 64 lanes modulo 128 put the blocks of both that one instruction reads into different bank
  // groups of UB, which halves its time. 16-bit operands lie whole repeats apart, clear of the
  // banks that Cast writes.
  int64_t TileLanesUp(int64_t lanes) const;
  int64_t TileLanesDown(int64_t lanes) const;
  static int64_t ApartUp(int64_t lanes) {
    return AlignUp(lanes + kRepeatLanes, kBankGroupLanes) - kRepeatLanes;
  }

  rowreduce::TileShape Tile(int64_t units, int64_t lanes) const {
    return {view_.reduce, units, lanes, bytes_, soc_.wholeBlocksOnly};
  }

  bool SidesLie() const { return side_.rows > 0; }

  // Rows of no multiple of 8 are added up in the order "mod64", and may be packed.
  bool IsOdd() const { return view_.reduce % (kBlockBytes / kFloatBytes) != 0; }

  int64_t CoresFor(int64_t units) const;
  // Split spreads units over cores, which then differ by at most one unit.
  void Split(int64_t units);
  // SplitColumns gives a unit at most `most` columns, and fewer where there would be fewer units than cores, down to
  // kSplitColumnBytes.
  void SplitColumns(int64_t most);
  // 310P and 910 store nothing shorter than a block. LongLastPart is the longest part, at most `part` and if possible a
  // multiple of `unit`, that cuts `total` such that `least` elements are left for the last one.
  int64_t LongLastPart(int64_t total, int64_t part, int64_t unit, int64_t least) const;
  // GoPastL2 says how many tiles of a core bypass L2. It is for plans in which every byte moves
  // once.
  void GoPastL2(int64_t tilesPerCore);

  UbBudget WithSides(UbBudget budget, int64_t slabs) const;
  bool Holds(const UbBudget& budget) const {
    return budget.Total() <= static_cast<uint64_t>(usable_);
  }
  // Finish notes the budget, and returns an error with the table of `shown` where UB does not hold it.
  std::string Finish(const UbBudget& budget, const UbBudget& shown, const std::string& hint);

  const char* op_;
  const ReduceView view_;
  const SideBySide side_;
  const int64_t bytes_;
  const SocFacts& soc_;
  const bool masked_;
  const bool packs_;          // rows may be packed
  const bool waits_;          // cores can wait for each other
  const int64_t usable_;      // bytes of UB
  const int64_t blockLanes_;  // elements of a block
  const int64_t axis_;        // rows of a slab in UB, or elements of a row
  const int64_t width_;       // lanes of such a row of columns
  RowReducePlan& plan_;
  RowReduceTilingData& data_;
};

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_PLANNER_H_
