// SPDX-License-Identifier: Apache-2.0
// This file plans full load: a tile holds the whole axis, and every byte of GM moves once. kLayouts
// is the table by which a layout is chosen.
#include "common/full_load_tiling.h"

#include <algorithm>

namespace optiling {

// The first layout that fits is taken. Where none does, cores share the axis (shared_axis.cpp).
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
  const int64_t rows = UnitsPerTile(UnitsPerCore(), most, bytes);
  Take(rows, RegisterLanes(rows), budget(rows));
}

// StreamStep returns the number of slabs by which a tile of streams grows, or 0 where slabs are not
// transposed. Where no tile of streams that are whole blocks fits, streams are padded and copied
// one by one, which pays where each has a GM line.
int64_t FullLoadPlanner::StreamStep() const {
  if (masked_ || view_.reduce == 1) {
    return 0;
  }
  const int64_t rowsOfCore = CeilDiv(view_.outer, CoresFor(view_.outer));
  const bool odd = view_.inner == 1 && view_.reduce % blockLanes_ != 0;
  const bool isShort = view_.inner > 1
                           ? view_.inner % blockLanes_ != 0
                           : (soc_.wholeBlocksOnly ? odd : IsOdd()) && view_.reduce <= kMaxShortRow;
  // A stream is whole slabs and whole blocks, and has LeastStream elements or more.
  int64_t wholeStep = BlockRows();
  while (wholeStep * Slab() < LeastStream()) {
    wholeStep *= 2;
  }
  wholeStep *= kStreams;
  if (isShort && MostStreams(wholeStep) > 0) {
    return wholeStep;
  }
  const int64_t most = MostStreams(kStreams);
  if (soc_.wholeBlocksOnly) {  // padded rows have another order of additions there, so all rows are transposed
    return odd && most >= 2 * kStreams ? kStreams : 0;
  }
  if (view_.inner == 1) {
    // A core with few rows would not fill the streams. Its rows are padded instead, with the same
    // sums.
    const bool many = rowsOfCore >= kPipelineTiles * kStreams;
    return IsOdd() && many && bytes_ < kFloatBytes && most >= 2 * kStreams ? kStreams : 0;
  }
  const bool line = most * Slab() * bytes_ >= kStreams * kLineBytes;
  return view_.inner % blockLanes_ != 0 && line ? kStreams : 0;
}

// StreamLanes returns the elements of 16 streams that hold `slabs` slabs together. A stream that is
// no whole blocks is padded to an odd number of them: the 16 blocks that one transposition reads
// then lie in different bank groups.
int64_t FullLoadPlanner::StreamLanes(int64_t slabs) const {
  const int64_t count = slabs / kStreams * Slab();
  const int64_t least = LeastStream();
  const bool whole = count % blockLanes_ == 0 && count >= least;
  int64_t length = Max(least, AlignUp(count, blockLanes_));
  length += whole || length / blockLanes_ % 2 == 1 ? 0 : blockLanes_;
  return kStreams * (soc_.wholeBlocksOnly ? AlignUp(length, least) : length);
}

// MostStreams returns the most slabs of a tile, a multiple of `step`. TransDataTo5HD takes a block
// of each stream in a repeat, so its repeats limit streams besides UB.
int64_t FullLoadPlanner::MostStreams(int64_t step) const {
  const int64_t perLane = 6 * bytes_ + 2 * kFloatBytes;
  int64_t most = AlignDown(usable_ / perLane / Slab(), step);
  while (most > 0 && !(Holds(TransposedBudget(ApartUp(StreamLanes(most)))) &&
                       StreamLanes(most) / kStreams / blockLanes_ <= kMaxRepeat)) {
    most -= step;
  }
  return most;
}

void FullLoadPlanner::PlanTransposed() {
  const int64_t step = StreamStep();
  const int64_t most = MostStreams(step);
  Split(view_.outer);
  const int64_t slabs =
      Min(most, AlignUp(UnitsPerTile(UnitsPerCore(), most, Slab() * bytes_), step));
  const int64_t lanes = ApartUp(StreamLanes(slabs));
  Take(slabs, lanes, TransposedBudget(lanes));
}

void FullLoadPlanner::PlanColumns() {
  if (SidesLie()) {
    const int64_t slab = axis_ * width_;
    int64_t most = Max(1, usable_ / (slab * LaneBytes()));
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
  if (most > kRepeatBlocks) {
    most = AlignDown(most, kRepeatBlocks);
  }
  Split(view_.outer);
  const int64_t rows = OnLines(UnitsPerTile(UnitsPerCore(), most, row * bytes_), most);
  Take(rows, TileLanesUp(rows * row), RowsBudget(rows, TileLanesUp(rows * row), false));
}

// OnLines makes `rows`, up to `most`, a number of rows that are whole GM lines, so that tiles start on lines. Rows that are
// padded in UB are copied one by one, and gain nothing from that.
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

SideBySide SideBySideOf(const RowReduceCase& wanted) {
  const ReduceView& view = wanted.view;
  const int64_t block = kBlockBytes / wanted.elementBytes;
  const int64_t period = std::lcm(view.inner, block);
  RowReducePlan unused;
  if (wanted.soc.wholeBlocksOnly || view.inner % block == 0 || period > kSideBySideLanes ||
      FullLoadPlanner(wanted, &unused).IsTransposed()) {
    return {};
  }
  // A row takes as many periods as leave little of the last row empty, preferably whole repeats.
  const int64_t periods = CeilDiv(view.reduce * view.inner, period);
  const int64_t most = Min(periods, kSideBySideLanes / period);
  const auto wastes = [periods](int64_t inRow) {
    return (CeilDiv(periods, inRow) * inRow - periods) * kSideBySideWaste > periods;
  };
  const int64_t step = std::lcm(period, int64_t{kRepeatLanes}) / period;
  int64_t inRow = AlignDown(most, step);
  while (inRow > 0 && wastes(inRow)) {
    inRow -= step;
  }
  if (inRow == 0) {
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
