// SPDX-License-Identifier: Apache-2.0
// Plans of full load: a tile holds the whole axis, and every byte of GM moves once. kLayouts is the table by which a layout
// is chosen; below it, what each of them takes.
#include <numeric>

#include "common/row_reduce_planner.h"

namespace optiling {
namespace {

using rowreduce::kPipelineCopyBytes;
using rowreduce::kPipelineTiles;

constexpr int64_t kBlocksPerRepeat = 8;
constexpr int64_t kStreams = 16;            // that a transposition takes at once
constexpr int64_t kMaxRepeats = 255;        // of an instruction
constexpr int64_t kMaxRegisterRows = 4096;  // of a tile: a vector function counts in 16 bits
constexpr int64_t kMaxRows =
    kMaxRepeats * kBlocksPerRepeat;      // of a tile: Brcb takes 8 of them in a repeat
constexpr int64_t kMaskedRowLanes = 16;  // of a row whose mask is widened to half: whole blocks

class FullLoadPlanner : private RowReducePlanner {
 public:
  FullLoadPlanner(const RowReduceCase& wanted, RowReducePlan* plan)
      : RowReducePlanner(wanted, plan) {}

  std::string Make();
  bool IsTransposed() const { return StreamStep() > 0; }

 private:
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

  // Units of a tile: what UB holds, but enough tiles for each core that the pipes overlap, as long as copies stay large.
  static int64_t UnitsPerTile(int64_t perCore, int64_t most, int64_t unitBytes,
                              int64_t wanted = kPipelineTiles,
                              int64_t copyBytes = kPipelineCopyBytes) {
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

// The first that fits is taken; none: cores share the axis (shared_axis.cpp).
const FullLoadPlanner::Layout FullLoadPlanner::kLayouts[] = {
    {{"Registers", false, "Ascend 950: rows that fit in UB, but the shortest"},
     ROW_REDUCE_REGISTERS,
     &FullLoadPlanner::IsInRegisters,
     &FullLoadPlanner::PlanRegisters},
    {{"Transposed", false, "short slabs whose rows are no whole blocks, 16 streams of them"},
     ROW_REDUCE_TRANSPOSED,
     &FullLoadPlanner::IsTransposed,
     &FullLoadPlanner::PlanTransposed},
    {{"Columns", false, "B > 1: R rows of 256 B of columns, or of B, fit in UB"},
     ROW_REDUCE_COLUMNS,
     &FullLoadPlanner::IsColumns,
     &FullLoadPlanner::PlanColumns},
    {{"Packed", false, "B == 1: rows of no multiple of 8, four tiles or more for each core"},
     ROW_REDUCE_PACKED,
     &FullLoadPlanner::IsPacked,
     &FullLoadPlanner::PlanPacked},
    {{"Padded", false, "B == 1: rows that fit in UB"},
     ROW_REDUCE_PADDED,
     &FullLoadPlanner::IsPadded,
     &FullLoadPlanner::PlanPadded},
};

std::string FullLoadPlanner::Make() {
  for (const Layout& layout : kLayouts) {
    plan_.choices.push_back(layout.choice);
    if (!(this->*layout.fits)()) {
      continue;
    }
    plan_.choices.back().taken = true;
    plan_.key = layout.key;
    (this->*layout.plan)();
    GoPastL2(CeilDiv(UnitsPerCore(), data_.tileUnits));
    return Finish(budget_, budget_, "A row and its mask are not split: shorten the last dim");
  }
  return {};
}

void FullLoadPlanner::PlanRegisters() {
  const auto budget = [this](int64_t rows) {
    return BudgetOf(RegistersUbOf(Tile(rows, RegisterLanes(rows))));
  };
  int64_t most = std::clamp<int64_t>(usable_ / (view_.reduce * 6 * bytes_), 1, kMaxRegisterRows);
  while (most > 1 && !Holds(budget(most))) {
    --most;
  }
  Split(view_.outer);
  const int64_t bytes = view_.reduce * bytes_;
  const int64_t rows = std::min(UnitsPerTile(UnitsPerCore(), most, bytes),
                                UnitsPerTile(UnitsPerCore(), most, bytes, rowreduce::kShortTiles,
                                             rowreduce::kShortCopyBytes));
  Take(rows, RegisterLanes(rows), budget(rows));
}

// Slabs by which tiles of streams grow; 0 where slabs are not transposed. Where slabs that are whole blocks together do not
// fit, streams are padded: each is a piece of GM, which is worth it from a line on.
int64_t FullLoadPlanner::StreamStep() const {
  if (masked_ || view_.reduce == 1) {
    return 0;
  }
  const int64_t rowsOfCore = CeilDiv(view_.outer, CoresFor(view_.outer));
  const bool odd = view_.inner == 1 && view_.reduce % blockLanes_ != 0;
  const bool isShort = view_.inner > 1 ? view_.inner % blockLanes_ != 0
                                       : (soc_.wholeBlocksOnly ? odd : IsOdd()) &&
                                             view_.reduce <= rowreduce::kMaxShortRow;
  int64_t wholeStep =
      BlockRows();  // streams of whole slabs, of whole blocks, of LeastStream elements
  while (wholeStep * Slab() < LeastStream()) {
    wholeStep *= 2;
  }
  wholeStep *= kStreams;
  if (isShort && (soc_.wholeBlocksOnly || view_.inner > 1 || rowsOfCore > rowreduce::kFewRows) &&
      MostStreams(wholeStep) > 0) {
    return wholeStep;
  }
  const int64_t most = MostStreams(kStreams);
  if (soc_.wholeBlocksOnly) {  // the order of additions is not that of padded rows there
    return odd && most >= 2 * kStreams ? kStreams : 0;
  }
  if (view_.inner == 1) {
    // Few rows of a core do not fill the streams; the sums are the same.
    const bool many = rowsOfCore >= kPipelineTiles * kStreams;
    return IsOdd() && many && bytes_ < kFloatBytes && most >= 2 * kStreams ? kStreams : 0;
  }
  const bool line = most * Slab() * bytes_ >= kStreams * kLineBytes;
  return view_.inner % blockLanes_ != 0 && line ? kStreams : 0;
}

// Elements of 16 streams of so many slabs: an odd number of blocks each where the slabs are no whole blocks.
int64_t FullLoadPlanner::StreamLanes(int64_t slabs) const {
  const int64_t count = slabs / kStreams * Slab();
  const int64_t least = LeastStream();
  const bool whole = count % blockLanes_ == 0 && count >= least;
  int64_t length = std::max(least, AlignUp(count, blockLanes_));
  length += whole || length / blockLanes_ % 2 == 1 ? 0 : blockLanes_;
  return kStreams * (soc_.wholeBlocksOnly ? AlignUp(length, least) : length);
}

// The most slabs of a tile, in steps. A repeat of TransDataTo5HD moves a block of each stream.
int64_t FullLoadPlanner::MostStreams(int64_t step) const {
  const int64_t perLane = 6 * bytes_ + 2 * kFloatBytes;
  int64_t most = AlignDown(usable_ / perLane / Slab(), step);
  while (most > 0 && !(Holds(TransposedBudget(ApartUp(StreamLanes(most)))) &&
                       StreamLanes(most) / kStreams / blockLanes_ <= kMaxRepeats)) {
    most -= step;
  }
  return most;
}

void FullLoadPlanner::PlanTransposed() {
  const int64_t step = StreamStep();
  const int64_t most = MostStreams(step);
  Split(view_.outer);
  const int64_t slabs =
      std::min(most, AlignUp(UnitsPerTile(UnitsPerCore(), most, Slab() * bytes_), step));
  const int64_t lanes = ApartUp(StreamLanes(slabs));
  Take(slabs, lanes, TransposedBudget(lanes));
}

void FullLoadPlanner::PlanColumns() {
  if (SidesLie()) {
    const int64_t slab = axis_ * width_;
    int64_t most = std::max<int64_t>(1, usable_ / (slab * LaneBytes()));
    while (most > 1 && !Holds(ColumnsBudget(most, TileLanesUp(most * slab)))) {
      --most;
    }
    data_.colTile = view_.inner;
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

void FullLoadPlanner::PlanPacked() {
  Split(view_.outer);
  const int64_t rows = PackedRowsOfTile(MostPackedRows(), plan_.cores);
  Take(rows, PackedLanes(rows), RowsBudget(rows, PackedLanes(rows), true));
}

void FullLoadPlanner::PlanPadded() {
  const int64_t row = PaddedRow();
  const int64_t maskBytes = masked_ ? 2 * AlignUp(view_.reduce, kBlockBytes) : 0;
  const int64_t rowBytes = row * LaneBytes() + kFloatBytes + kBlockBytes + maskBytes;
  int64_t most = std::clamp<int64_t>(usable_ / rowBytes, 1, kMaxRows);
  while (most > 1 && !Holds(RowsBudget(most, TileLanesUp(most * row), false))) {
    --most;
  }
  if (most > kBlocksPerRepeat) {
    most = AlignDown(most, kBlocksPerRepeat);
  }
  Split(view_.outer);
  if (soc_.wholeBlocksOnly && view_.reduce % blockLanes_ != 0) {
    most = std::min(most, rowreduce::kPaddedLegacyRows);
  }
  const int64_t rows = OnLines(UnitsPerTile(UnitsPerCore(), most, row * bytes_), most);
  Take(rows, TileLanesUp(rows * row), RowsBudget(rows, TileLanesUp(rows * row), false));
}

// About `rows` rows that take whole GM lines, where at most `most` can: tiles start on lines then. Rows that are padded in
// UB are copied one by one.
int64_t FullLoadPlanner::OnLines(int64_t rows, int64_t most) const {
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

}  // namespace

SideBySide SideBySideOf(const RowReduceCase& wanted) {
  using rowreduce::kSideBySideLanes;
  constexpr int64_t kRepeat = 64;
  const ReduceView& view = wanted.view;
  const int64_t block = kBlockBytes / wanted.elementBytes;
  const int64_t period = std::lcm(view.inner, block);
  RowReducePlan unused;
  if (wanted.soc.wholeBlocksOnly || view.inner % block == 0 || period > kSideBySideLanes ||
      FullLoadPlanner(wanted, &unused).IsTransposed()) {
    return {};
  }
  // As many periods in a row as leave little of the last row without data: whole repeats of them, if there are such.
  const int64_t periods = CeilDiv(view.reduce * view.inner, period);
  const int64_t most = std::min(periods, kSideBySideLanes / period);
  const auto wastes = [periods](int64_t inRow) {
    return (CeilDiv(periods, inRow) * inRow - periods) * rowreduce::kSideBySideWaste > periods;
  };
  const int64_t step = std::lcm(period, kRepeat) / period;
  int64_t inRow = AlignDown(most, step);
  while (inRow * period >= rowreduce::kSideBySideRepeats * kRepeat && wastes(inRow)) {
    inRow -= step;
  }
  if (inRow * period < rowreduce::kSideBySideRepeats * kRepeat) {
    inRow = most;
    while (wastes(inRow)) {
      --inRow;
    }
  }
  return {CeilDiv(periods, inRow), inRow * period};
}

std::string PlanFullLoad(const RowReduceCase& wanted, RowReducePlan* plan) {
  return FullLoadPlanner(wanted, plan).Make();
}

}  // namespace optiling
