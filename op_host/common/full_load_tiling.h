// SPDX-License-Identifier: Apache-2.0
// FullLoadPlanner knows which shapes each layout of full load takes, and how much of UB. full_load_tiling.cpp has its table of
// layouts.
#ifndef OP_HOST_COMMON_FULL_LOAD_TILING_H_
#define OP_HOST_COMMON_FULL_LOAD_TILING_H_

#include <cstdint>
#include <numeric>
#include <string>

#include "common/row_reduce_planner.h"

namespace optiling {

class FullLoadPlanner : private RowReducePlanner {
 public:
  FullLoadPlanner(const RowReduceCase& wanted, RowReducePlan* plan)
      : RowReducePlanner(wanted, plan) {}

  std::string Make();
  bool IsTransposed() const { return StreamStep() > 0; }

 private:
  // A vector function counts the rows of a tile in 16 bits.
  static constexpr int64_t kMaxRegisterRows = 4096;
  // Brcb takes 8 rows of a tile in a repeat.
  static constexpr int64_t kMaxRows = kMaxRepeat * kRepeatBlocks;
  // A row whose mask is widened to half is whole blocks of half.
  static constexpr int64_t kMaskedRowLanes = 16;

  // These say which rows and slabs a layout takes.
  bool IsInRegisters() const {
    return soc_.registers && !masked_ && view_.inner == 1 && view_.reduce >= LeastInRegisters() &&
           Holds(BudgetOf(RegistersUbOf(Tile(1, RegisterLanes(1)))));
  }

  bool IsColumns() const {
    if (view_.inner == 1 && (view_.reduce > 1 || masked_)) {
      return false;
    }
    return SidesLie() ? Holds(ColumnsBudget(1, TileLanesUp(axis_ * width_)))
                      : view_.reduce <= MostColumnLanes() / LeastColumns();
  }

  // Packed tiles take longer to compute, which only many tiles hide. Padded rows have the same
  // sums.
  bool IsPacked() const {
    const int64_t most = MostPackedRows();
    const int64_t cores = CoresFor(view_.outer);
    return most > 0 &&
           CeilDiv(view_.outer, cores) >= kPipelineTiles * PackedRowsOfTile(most, cores);
  }

  bool IsPadded() const {
    return view_.inner == 1 &&
           (masked_ || MostPackedRows() > 0 ||
            (!ArePackedWhole() && Holds(RowsBudget(1, TileLanesUp(PaddedRow()), false))));
  }

  void PlanRegisters();
  void PlanTransposed();
  void PlanColumns();
  void PlanPacked();
  void PlanPadded();

  struct Layout {
    LayoutChoice choice;
    uint64_t key;
    bool (FullLoadPlanner::*fits)() const;
    void (FullLoadPlanner::*plan)();
  };
  static const Layout kLayouts[];

  int64_t UnitsPerCore() const { return CeilDiv(plan_.units, plan_.cores); }

  void Take(int64_t units, int64_t lanes, const UbBudget& budget) {
    data_.tileUnits = units;
    data_.tileLanes = lanes;
    budget_ = budget;
  }

  // --- Registers
  int64_t LeastInRegisters() const { return IsOdd() ? kMinOddRegisterRow : kMinRegisterRow; }
  int64_t RegisterLanes(int64_t rows) const {
    return AlignUp(rows * view_.reduce,
                   rowreduce::LiesFlat(view_.reduce, bytes_) ? kRepeatLanes : blockLanes_);
  }

  // --- Padded and packed rows
  UbBudget RowsBudget(int64_t rows, int64_t lanes, bool packed) const {
    UbBudget budget = BudgetOf(RowsUbOf(Tile(rows, lanes), packed));
    if (masked_) {
      const UbBuffer mask = MaskUbOf(Tile(rows, lanes), packed);
      budget.Add("mask", mask.count, mask.bytes);
    }
    return budget;
  }
  // LaneBytes is what each lane of a tile takes of UB: y and g twice, the result, and two fp32
  // lanes of 16-bit types.
  int64_t LaneBytes() const { return 5 * bytes_ + (bytes_ < kFloatBytes ? 2 * kFloatBytes : 0); }
  // A padded row is whole blocks in its own type, or in fp32 where it is a multiple of 8.
  int64_t PaddedRow() const {
    return AlignUp(view_.reduce, masked_                             ? kMaskedRowLanes
                                 : !soc_.wholeBlocksOnly && !IsOdd() ? kBlockBytes / kFloatBytes
                                                                     : blockLanes_);
  }
  // Packed rows save GM and cost VECTOR. 16-bit rows take GM half the time, so that only short and long ones are packed.
  bool ArePackedWhole() const {
    const int64_t shortRow = kMaxShortRow * (masked_ ? 2 : 1);
    return packs_ && view_.inner == 1 && IsOdd() &&
           (bytes_ == kFloatBytes || view_.reduce <= shortRow || view_.reduce >= kMinLongRow);
  }
  // BlockRows rows or slabs are the fewest that are whole blocks together.
  int64_t BlockRows() const { return blockLanes_ / std::gcd(Slab(), blockLanes_); }
  // A tile of packed rows may begin and end within a block, and has its first results a second time behind the last.
  int64_t PackedLanes(int64_t rows) const {
    return TileLanesUp(rows * view_.reduce + 3 * blockLanes_);
  }
  int64_t MostPackedRows() const {
    if (!ArePackedWhole()) {
      return 0;
    }
    int64_t most = Min(usable_ / (view_.reduce * LaneBytes()), kMaxRows);
    while (most > 0 && !Holds(RowsBudget(most, PackedLanes(most), true))) {
      --most;
    }
    return most >= 2 * BlockRows() ? AlignDown(most, BlockRows()) : most;
  }
  int64_t PackedRowsOfTile(int64_t most, int64_t cores) const {
    const int64_t rows = UnitsPerTile(CeilDiv(view_.outer, cores), most, view_.reduce * bytes_);
    return most < BlockRows() ? rows : Min(most, AlignUp(rows, BlockRows()));
  }
  int64_t OnLines(int64_t rows, int64_t most) const;

  // --- Transposed
  int64_t Slab() const { return view_.reduce * view_.inner; }
  int64_t LeastStream() const { return soc_.wholeBlocksOnly ? kLeastLegacyStream : kStreams; }
  int64_t StreamStep() const;
  int64_t StreamLanes(int64_t slabs) const;
  int64_t MostStreams(int64_t step) const;
  UbBudget TransposedBudget(int64_t lanes) const {
    return BudgetOf(TransposedUbOf(Tile(1, lanes)));
  }

  // --- Columns
  bool InRegisters() const {
    return rowreduce::ColumnsInRegisters(soc_.registers, view_.inner, side_.rows);
  }
  UbBudget ColumnsBudget(int64_t slabs, int64_t lanes) const {
    return WithSides(BudgetOf(ColumnsUbOf(Tile(slabs, lanes), InRegisters())), slabs);
  }
  int64_t MostColumnLanes() const {
    if (InRegisters()) {
      return TileLanesDown((usable_ - 2 * rowreduce::kBehindRegisters) / (5 * bytes_));
    }
    const int64_t apart = bytes_ < kFloatBytes ? rowreduce::kWorkApart * kFloatBytes : 0;
    return TileLanesDown((usable_ - apart) / LaneBytes());
  }
  // LeastColumns is the narrowest tile worth having. Where R rows of it do not fit, chunks of wider
  // columns are faster.
  int64_t LeastColumns() const {
    const int64_t bytes = waits_ ? kHalfLineBytes : kSplitColumnBytes;
    return Min(AlignUp(view_.inner, blockLanes_), bytes / bytes_);
  }

  UbBudget budget_;
};

}  // namespace optiling

#endif  // OP_HOST_COMMON_FULL_LOAD_TILING_H_
