// SPDX-License-Identifier: Apache-2.0
// This file plans full load: a tile holds the whole axis, and every byte of GM moves once. Make has the table by which a layout
// is chosen. The functions Is... say which shapes a layout takes, and Plan... how much of UB a tile has.
#include <algorithm>
#include <numeric>

#include "common/row_reduce_tiling.h"

namespace optiling {
namespace {

class FullLoadPlanner : protected RowReducePlanner {
 public:
  FullLoadPlanner(const RowReduceCase& wanted, RowReducePlan* plan)
      : RowReducePlanner(wanted, plan) {}

  // The first layout that fits is taken. Where none does, cores share the axis (shared_axis.cpp).
  std::string Make() {
    using P = FullLoadPlanner;
    const struct {
      LayoutChoice choice;
      uint64_t key;
      bool (P::*fits)() const;
      void (P::*plan)();
    } layouts[] = {
        {{"Registers", false, "Ascend 950: rows that fit in UB, but the shortest"},
         ROW_REDUCE_REGISTERS,
         &P::IsInRegisters,
         &P::PlanRegisters},
        {{"Transposed", false, "short slabs whose rows are no whole blocks, 16 streams of them"},
         ROW_REDUCE_TRANSPOSED,
         &P::IsTransposed,
         &P::PlanTransposed},
        {{"Columns", false, "B > 1: R rows of 256 B of columns, or of B, fit in UB"},
         ROW_REDUCE_COLUMNS,
         &P::IsColumns,
         &P::PlanColumns},
        {{"Packed", false, "B == 1: rows of no multiple of 8, four tiles or more for each core"},
         ROW_REDUCE_PACKED,
         &P::IsPacked,
         &P::PlanPacked},
        {{"Padded", false, "B == 1: rows that fit in UB"},
         ROW_REDUCE_PADDED,
         &P::IsPadded,
         &P::PlanPadded},
    };
    for (const auto& layout : layouts) {
      plan_.choices.push_back(layout.choice);
      if (!(this->*layout.fits)()) {
        continue;
      }
      plan_.choices.back().taken = true;
      plan_.key = layout.key;
      (this->*layout.plan)();
      SetL2Bypass(CeilDiv(UnitsPerCore(), data_.tileUnits));
      return Finish(budget_, budget_, "A row and its mask are not split: shorten the last dim");
    }
    return {};
  }

  bool IsTransposed() const { return SlabMultiple() > 0; }

 protected:  // benchmarks/driver/tilings.cpp tries what the rules leave out
  // A vector function counts the rows of a tile in 16 bits.
  static constexpr int64_t kMaxRegisterRows = 4096;
  // Brcb takes 8 rows of a tile in a repeat.
  static constexpr int64_t kMaxRows = kMaxRepeat * kRepeatBlocks;
  // A row whose mask is widened to half is whole blocks of half.
  static constexpr int64_t kMaskedRowLanes = 16;

  int64_t UnitsPerCore() const { return CeilDiv(plan_.units, plan_.cores); }

  void Take(int64_t units, int64_t lanes, const UbBudget& budget) {
    data_.tileUnits = units;
    data_.tileLanes = lanes;
    budget_ = budget;
  }

  // --- Registers
  bool IsInRegisters() const {
    return soc_.registers && !masked_ && view_.inner == 1 && view_.reduce >= kMinRegisterRow &&
           Holds(BudgetOf(RegistersUbOf(Tile(1, RegisterLanes(1)))));
  }

  int64_t RegisterLanes(int64_t rows) const {
    return AlignUp(rows * view_.reduce,
                   rowreduce::LiesFlat(view_.reduce, bytes_) ? kRepeatLanes : blockLanes_);
  }

  void PlanRegisters() {
    const auto budget = [this](int64_t rows) {
      return BudgetOf(RegistersUbOf(Tile(rows, RegisterLanes(rows))));
    };
    int64_t most = std::clamp<int64_t>(usable_ / (view_.reduce * 6 * bytes_), 1, kMaxRegisterRows);
    while (most > 1 && !Holds(budget(most))) {
      --most;
    }
    Split(view_.outer);
    const int64_t rows = UnitsPerTile(UnitsPerCore(), most, view_.reduce * bytes_);
    Take(rows, RegisterLanes(rows), budget(rows));
  }

  // --- Transposed
  int64_t Slab() const { return view_.reduce * view_.inner; }
  int64_t LeastStream() const { return soc_.wholeBlocksOnly ? kLeastLegacyStream : kStreams; }
  UbBudget TransposedBudget(int64_t lanes) const {
    return BudgetOf(TransposedUbOf(Tile(1, lanes)));
  }

  // SlabMultiple returns a number of slabs: tiles have a multiple of it. It is 0 where slabs are not transposed. Where no
  // tile of streams that are whole blocks fits, streams are padded and copied one by one, which pays where each has a GM line.
  int64_t SlabMultiple() const {
    if (masked_ || view_.reduce == 1) {
      return 0;
    }
    const int64_t rowsOfCore = CeilDiv(view_.outer, CoresFor(view_.outer));
    const bool oddRow = view_.inner == 1 && view_.reduce % blockLanes_ != 0;
    const bool isShort = view_.inner > 1 ? view_.inner % blockLanes_ != 0
                                         : (soc_.wholeBlocksOnly ? oddRow : IsMod64()) &&
                                               view_.reduce <= kMaxShortRow;
    // A stream is whole slabs and whole blocks, and has LeastStream elements or more.
    int64_t slabsOfStream = BlockRows();
    while (slabsOfStream * Slab() < LeastStream()) {
      slabsOfStream *= 2;
    }
    if (isShort && MostSlabs(slabsOfStream * kStreams) > 0) {
      return slabsOfStream * kStreams;
    }
    const int64_t most = MostSlabs(kStreams);
    if (soc_.wholeBlocksOnly) {  // padded rows have another order of additions there, so all rows are transposed
      return oddRow && most >= 2 * kStreams ? kStreams : 0;
    }
    if (view_.inner == 1) {
      // A core with few rows would not fill the streams. Its rows are padded instead, with the same
      // sums.
      const bool many = rowsOfCore >= kPipelineTiles * kStreams;
      return IsMod64() && many && bytes_ < kFloatBytes && most >= 2 * kStreams ? kStreams : 0;
    }
    const bool line = most * Slab() * bytes_ >= kStreams * kLineBytes;
    return view_.inner % blockLanes_ != 0 && line ? kStreams : 0;
  }

  // StreamLanes returns the elements of 16 streams that hold `slabs` slabs together. A stream that is
  // no whole blocks is padded to an odd number of them: the 16 blocks that one transposition reads
  // then lie in different bank groups.
  int64_t StreamLanes(int64_t slabs) const {
    const int64_t count = slabs / kStreams * Slab();
    const int64_t least = LeastStream();
    const bool whole = count % blockLanes_ == 0 && count >= least;
    int64_t length = Max(least, AlignUp(count, blockLanes_));
    length += whole || length / blockLanes_ % 2 == 1 ? 0 : blockLanes_;
    return kStreams * (soc_.wholeBlocksOnly ? AlignUp(length, least) : length);
  }

  // MostSlabs returns the most slabs of a tile, a multiple of `multiple`. TransDataTo5HD takes a block
  // of each stream in a repeat, so its repeats limit streams besides UB.
  int64_t MostSlabs(int64_t multiple) const {
    const int64_t perLane = 6 * bytes_ + 2 * kFloatBytes;
    int64_t most = AlignDown(usable_ / perLane / Slab(), multiple);
    while (most > 0 && !(Holds(TransposedBudget(PadForBanks(StreamLanes(most)))) &&
                         StreamLanes(most) / kStreams / blockLanes_ <= kMaxRepeat)) {
      most -= multiple;
    }
    return most;
  }

  void PlanTransposed() {
    const int64_t multiple = SlabMultiple();
    const int64_t most = MostSlabs(multiple);
    Split(view_.outer);
    const int64_t slabs =
        Min(most, AlignUp(UnitsPerTile(UnitsPerCore(), most, Slab() * bytes_), multiple));
    const int64_t lanes = PadForBanks(StreamLanes(slabs));
    Take(slabs, lanes, TransposedBudget(lanes));
  }

  // --- Columns
  bool IsColumns() const {
    if (view_.inner == 1 && (view_.reduce > 1 || masked_)) {
      return false;
    }
    return IsSideBySide() ? Holds(ColumnsBudget(1, TileLanesUp(SideBySideSlab())))
                          : view_.reduce <= MostColumnLanes() / LeastColumns();
  }

  // SideBySideSlab is how many elements a slab of columns side by side takes: periods, and whole blocks.
  int64_t Period() const { return rowreduce::PeriodOf(view_.inner); }
  int64_t SideBySideSlab() const { return AlignUp(AlignUp(Slab(), Period()), blockLanes_); }
  bool InRegisters() const {
    return rowreduce::ColumnsInRegisters(soc_.registers, view_.inner, side_.rows);
  }
  UbBudget ColumnsBudget(int64_t slabs, int64_t lanes) const {
    return WithSideBySide(BudgetOf(ColumnsUbOf(Tile(slabs, lanes), InRegisters())), slabs);
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
    const int64_t bytes = canWait_ ? kHalfLineBytes : kSplitColumnBytes;
    return Min(AlignUp(view_.inner, blockLanes_), bytes / bytes_);
  }

  void PlanColumns() {
    if (IsSideBySide()) {
      const int64_t slab = SideBySideSlab();
      int64_t most = Max(1, usable_ / (slab * LaneBytes()));
      while (most > 1 && !Holds(ColumnsBudget(most, TileLanesUp(most * slab)))) {
        --most;
      }
      data_.colTile = view_.inner;
      data_.sideLanes = Period();
      data_.sideRows = CeilDiv(Slab(), Period());
      Split(view_.outer);
      const int64_t slabs = UnitsPerTile(UnitsPerCore(), most, slab * bytes_);
      Take(slabs, TileLanesUp(slabs * slab), ColumnsBudget(slabs, TileLanesUp(slabs * slab)));
      return;
    }
    const int64_t lanes = MostColumnLanes();
    SplitColumns(AlignDown(lanes / view_.reduce, blockLanes_));
    const int64_t unit = view_.reduce * AlignUp(data_.colTile, blockLanes_);
    const int64_t slabs =
        data_.colTiles == 1 ? UnitsPerTile(UnitsPerCore(), lanes / unit, unit * bytes_) : 1;
    Take(slabs, TileLanesUp(slabs * unit), ColumnsBudget(slabs, TileLanesUp(slabs * unit)));
  }

  // --- Packed and padded rows
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
    return AlignUp(view_.reduce, masked_                               ? kMaskedRowLanes
                                 : !soc_.wholeBlocksOnly && !IsMod64() ? kBlockBytes / kFloatBytes
                                                                       : blockLanes_);
  }
  // Packed rows save GM and cost VECTOR. 16-bit rows take GM half the time, so that only short and long ones are packed.
  bool ArePackedWhole() const {
    const int64_t shortRow = kMaxShortRow * (masked_ ? 2 : 1);
    return packs_ && view_.inner == 1 && IsMod64() &&
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

  void PlanPacked() {
    Split(view_.outer);
    const int64_t rows = PackedRowsOfTile(MostPackedRows(), plan_.cores);
    Take(rows, PackedLanes(rows), RowsBudget(rows, PackedLanes(rows), true));
  }

  void PlanPadded() {
    const int64_t row = PaddedRow();
    const int64_t maskBytes = masked_ ? 2 * AlignUp(view_.reduce, kBlockBytes) : 0;
    const int64_t rowBytes = row * LaneBytes() + kFloatBytes + kBlockBytes + maskBytes;
    int64_t most = std::clamp<int64_t>(usable_ / rowBytes, 1, kMaxRows);
    while (most > 1 && !Holds(RowsBudget(most, TileLanesUp(most * row), false))) {
      --most;
    }
    if (most > kRepeatBlocks) {
      most = AlignDown(most, kRepeatBlocks);
    }
    Split(view_.outer);
    const int64_t rows = OnLines(UnitsPerTile(UnitsPerCore(), most, row * bytes_), most);
    Take(rows, TileLanesUp(rows * row), RowsBudget(rows, TileLanesUp(rows * row), false));
  }

  // OnLines makes `rows`, up to `most`, a number of rows that are whole GM lines, so that tiles start on lines. Rows that are
  // padded in UB are copied one by one, and gain nothing from that.
  int64_t OnLines(int64_t rows, int64_t most) const {
    const bool padded = soc_.wholeBlocksOnly || PaddedRow() != view_.reduce;
    int64_t whole = 1;
    while (whole * view_.reduce * bytes_ % kLineBytes != 0) {
      whole *= 2;
    }
    if (padded || rows <= whole || UnitsPerCore() <= rows) {
      return rows;
    }
    const int64_t up = AlignUp(rows, whole);
    return up <= most ? up : AlignDown(rows, whole);
  }

  UbBudget budget_;
};

}  // namespace

bool IsTransposed(const RowReduceCase& wanted) {
  RowReducePlan unused;
  return FullLoadPlanner(wanted, &unused).IsTransposed();
}

std::string PlanFullLoad(const RowReduceCase& wanted, RowReducePlan* plan) {
  return FullLoadPlanner(wanted, plan).Make();
}

}  // namespace optiling
