// SPDX-License-Identifier: Apache-2.0
// FullLoadPlanner knows which shapes each layout of full load takes, and how much of UB. Its table of layouts is in
// full_load_tiling.cpp.
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
  static constexpr int64_t kBlocksPerRepeat = 8;
  static constexpr int64_t kStreams = 16;      // that a transposition takes at once
  static constexpr int64_t kMaxRepeats = 255;  // of an instruction
  static constexpr int64_t kMaxRegisterRows =
      4096;  // of a tile: a vector function counts in 16 bits
  static constexpr int64_t kMaxRows =
      kMaxRepeats * kBlocksPerRepeat;             // of a tile: Brcb takes 8 of them in a repeat
  static constexpr int64_t kMaskedRowLanes = 16;  // of a row whose mask is widened to half

  // Which rows and slabs a layout takes.
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

  // Few tiles do not hide that packed ones take longer to compute. The sums are the same.
  bool IsPacked() const {
    const int64_t most = MostPackedRows();
    const int64_t cores = CoresFor(view_.outer);
    return most > 0 &&
           CeilDiv(view_.outer, cores) >= rowreduce::kPipelineTiles * PackedRowsOfTile(most, cores);
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

  // Units of a tile: what UB holds, but enough tiles for each core that the pipes overlap, as long as copies stay large.
  static int64_t UnitsPerTile(int64_t perCore, int64_t most, int64_t unitBytes,
                              int64_t wanted = rowreduce::kPipelineTiles,
                              int64_t copyBytes = rowreduce::kPipelineCopyBytes) {
    const int64_t byCopies = perCore / std::max<int64_t>(1, CeilDiv(copyBytes, unitBytes));
    const int64_t tiles = std::max(CeilDiv(perCore, most), std::min(wanted, byCopies));
    return CeilDiv(perCore, std::max<int64_t>(1, tiles));
  }
  int64_t UnitsPerCore() const { return CeilDiv(plan_.units, plan_.cores); }

  void Take(int64_t units, int64_t lanes, const UbBudget& budget) {
    data_.tileUnits = units;
    data_.tileLanes = lanes;
    budget_ = budget;
  }

  // Registers.
  int64_t LeastInRegisters() const {
    return IsOdd()                 ? rowreduce::kMinOddRegisterRow
           : bytes_ == kFloatBytes ? rowreduce::kMinRegisterRow
                                   : rowreduce::kMinNarrowRegisterRow;
  }
  int64_t RegisterLanes(int64_t rows) const {
    return AlignUp(rows * view_.reduce,
                   rowreduce::LiesFlat(view_.reduce, bytes_) ? kRepeatLanes : blockLanes_);
  }

  // Padded and packed rows.
  UbBudget RowsBudget(int64_t rows, int64_t lanes, bool packed) const {
    UbBudget budget = BudgetOf(RowsUbOf(Tile(rows, lanes), packed));
    if (masked_) {
      const rowreduce::UbBuffer mask = MaskUbOf(Tile(rows, lanes), packed);
      budget.Add("mask", mask.count, mask.bytes);
    }
    return budget;
  }
  // Bytes of UB for each lane of a tile: y and g twice, the result, and two fp32 lanes of 16-bit types.
  int64_t LaneBytes() const { return 5 * bytes_ + (bytes_ < kFloatBytes ? 2 * kFloatBytes : 0); }
  // Lanes from one padded row to the next: whole blocks, or rows that are whole blocks once they are fp32.
  int64_t PaddedRow() const {
    return AlignUp(view_.reduce, masked_                             ? kMaskedRowLanes
                                 : !soc_.wholeBlocksOnly && !IsOdd() ? kBlockBytes / kFloatBytes
                                                                     : blockLanes_);
  }
  // 16-bit rows take GM half the time, and more of VECTOR packed than padded, but where they are short or long.
  bool ArePackedWhole() const {
    const int64_t shortRow = rowreduce::kMaxShortRow * (masked_ ? 2 : 1);
    return packs_ && view_.inner == 1 && IsOdd() &&
           (bytes_ == kFloatBytes || view_.reduce <= shortRow ||
            view_.reduce >= rowreduce::kMinLongRow);
  }
  // Rows that are whole blocks together.
  int64_t BlockRows() const { return blockLanes_ / std::gcd(Slab(), blockLanes_); }
  // A tile of packed rows may begin and end within a block, and has its first results once more behind them.
  int64_t PackedLanes(int64_t rows) const {
    return TileLanesUp(rows * view_.reduce + 3 * blockLanes_);
  }
  int64_t MostPackedRows() const {
    if (!ArePackedWhole()) {
      return 0;
    }
    int64_t most = std::min(usable_ / (view_.reduce * LaneBytes()), kMaxRows);
    while (most > 0 && !Holds(RowsBudget(most, PackedLanes(most), true))) {
      --most;
    }
    return most >= 2 * BlockRows() ? AlignDown(most, BlockRows()) : most;
  }
  int64_t PackedRowsOfTile(int64_t most, int64_t cores) const {
    const int64_t rows = UnitsPerTile(CeilDiv(view_.outer, cores), most, view_.reduce * bytes_);
    return most < BlockRows() ? rows : std::min(most, AlignUp(rows, BlockRows()));
  }
  int64_t OnLines(int64_t rows, int64_t most) const;

  // Transposed.
  int64_t Slab() const { return view_.reduce * view_.inner; }
  int64_t LeastStream() const {
    return soc_.wholeBlocksOnly ? rowreduce::kLeastLegacyStream : kStreams;
  }
  int64_t StreamStep() const;
  int64_t StreamLanes(int64_t slabs) const;
  int64_t MostStreams(int64_t step) const;
  UbBudget TransposedBudget(int64_t lanes) const {
    return BudgetOf(TransposedUbOf(Tile(1, lanes)));
  }

  // Columns.
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
  // Where R rows of so many columns do not fit, chunks of wider ones are better.
  int64_t LeastColumns() const {
    const int64_t bytes = waits_ ? kHalfLineBytes : rowreduce::kMinColumnBytes;
    return std::min(AlignUp(view_.inner, blockLanes_), bytes / bytes_);
  }

  UbBudget budget_;
};

}  // namespace optiling

#endif  // OP_HOST_COMMON_FULL_LOAD_TILING_H_
