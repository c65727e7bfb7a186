// SPDX-License-Identifier: Apache-2.0
#include "common/row_reduce_tiling.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace optiling {

std::string MakeReduceView(const std::vector<int64_t>& dims, int64_t axis, ReduceView* view) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (rank > 8) {
    return "rank " + std::to_string(rank) + " of the input, wanted at most 8";
  }
  const int64_t most = Max(rank, 1);
  if (axis < -most || axis >= most) {
    return "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank) +
           ", wanted a value in [" + std::to_string(-most) + ", " + std::to_string(most - 1) + "]";
  }
  const int64_t at = axis < 0 ? axis + most : axis;
  *view = {1, 1, 1};
  int64_t total = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t dim = dims[static_cast<size_t>(i)];
    if (dim <= 0) {
      return "dim " + std::to_string(i) + " of the input is " + std::to_string(dim) +
             ", wanted a positive size (an empty tensor needs no launch)";
    }
    // 8-byte offsets on the device must not wrap.
    if (total > std::numeric_limits<int64_t>::max() / 8 / dim) {
      return "the input has more than 2^60 elements at dim " + std::to_string(i);
    }
    total *= dim;
    (i < at ? view->outer : (i == at ? view->reduce : view->inner)) *= dim;
  }
  return {};
}

namespace {

// Columns that are no whole blocks lie side by side where a period of them is short enough for
// kSideBySideLanes, unless they are transposed.
SideBySide SideBySideOf(const RowReduceCase& wanted) {
  const ReduceView& view = wanted.view;
  const int64_t block = kBlockBytes / wanted.elementBytes;
  const int64_t period = std::lcm(view.inner, block);
  const bool isLong = period > kSideBySideLanes && view.inner > kSideBySideColumns;
  if (wanted.soc.wholeBlocksOnly || view.inner % block == 0 || isLong || IsTransposed(wanted)) {
    return {};
  }
  // A row takes as many periods as leave little of the last row empty, preferably whole repeats.
  const int64_t periods = CeilDiv(view.reduce * view.inner, period);
  const int64_t most = Min(periods, Max(1, kSideBySideLanes / period));
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

}  // namespace

std::string MakeRowReducePlan(const char* op, const ReduceView& view, uint32_t elementBytes,
                              const SocFacts& soc, RowReducePlan* plan, RowInputs inputs) {
  if (elementBytes != 2 && elementBytes != 4) {
    return std::string(op) + ": " + std::to_string(elementBytes) +
           " B per element, wanted 4 (FLOAT) or 2 (FLOAT16, BF16)";
  }
  if (soc.cores <= 0) {
    return std::string(op) + ": the platform reports " + std::to_string(soc.cores) +
           " vector cores on " + soc.name + ", wanted at least 1";
  }
  const bool masked = inputs != RowInputs::kPair;
  if (masked && view.inner != 1) {
    return std::string(op) + ": a mask along the axis in the middle, [A, R, B] = [" +
           std::to_string(view.outer) + ", " + std::to_string(view.reduce) + ", " +
           std::to_string(view.inner) + "], wanted B == 1";
  }
  RowReduceCase wanted{op, view, elementBytes, soc, inputs, {}};
  if (view.reduce == 1 && !masked) {
    // There is nothing to add up: the tensor is one row of independent columns.
    wanted.view = {1, 1, view.outer * view.inner};
  } else if (view.inner > 1) {
    wanted.side = SideBySideOf(wanted);
  }
  RowReducePlan made;
  std::string error = PlanFullLoad(wanted, &made);
  if (error.empty() && made.key == 0) {
    error = PlanSharedAxis(wanted, &made);
  }
  if (error.empty()) {
    *plan = made;
  }
  return error;
}

RowReducePlanner::RowReducePlanner(const RowReduceCase& wanted, RowReducePlan* plan)
    : op_(wanted.op),
      view_(wanted.view),
      side_(wanted.side),
      bytes_(wanted.elementBytes),
      soc_(wanted.soc),
      masked_(wanted.inputs != RowInputs::kPair),
      packs_(wanted.inputs != RowInputs::kPairAndMask && !wanted.soc.wholeBlocksOnly),
      canWait_(!wanted.soc.wholeBlocksOnly),
      usable_(static_cast<int64_t>(UsableUb(wanted.soc.ubBytes))),
      blockLanes_(kBlockBytes / wanted.elementBytes),
      axis_(side_.rows > 0 ? side_.rows : view_.reduce),
      width_(side_.rows > 0 ? side_.lanes : view_.inner),
      plan_(*plan),
      data_(plan->data) {
  data_.outer = view_.outer;
  data_.reduce = view_.reduce;
  data_.inner = view_.inner;
  data_.sideRows = side_.rows;
  data_.sideLanes = side_.lanes;
  data_.colTiles = 1;
  data_.tileUnits = 1;
  data_.pieces = 1;
}

int64_t RowReducePlanner::TileLanesUp(int64_t lanes) const {
  return bytes_ < kFloatBytes ? AlignUp(lanes, kBankGroupLanes) : PadForBanks(lanes);
}

int64_t RowReducePlanner::TileLanesDown(int64_t lanes) const {
  const int64_t up = TileLanesUp(lanes);
  return up > lanes ? up - kBankGroupLanes : up;
}

UbBudget RowReducePlanner::WithSideBySide(UbBudget budget, int64_t slabs) const {
  if (IsSideBySide()) {
    budget.Add(rowreduce::SideBySideUbOf(view_.inner, side_.lanes, slabs));
  }
  return budget;
}

int64_t RowReducePlanner::CoresFor(int64_t units) const {
  // Arithmetic takes as long for 16 bit as for fp32, so bytes count as those of fp32.
  return Min(units, CoresForBytes(view_.outer * axis_ * width_ * kFloatBytes, soc_));
}

void RowReducePlanner::Split(int64_t units) {
  plan_.units = units;
  plan_.cores = CoresFor(units);
  if (plan_.cores < soc_.cores && !soc_.wholeBlocksOnly) {
    // The busiest core decides. Cores that would only have fewer units than it are left out.
    plan_.cores = CeilDiv(units, CeilDiv(units, plan_.cores));
  }
  data_.coreUnits = units / plan_.cores;
  data_.extraCores = units % plan_.cores;
}

void RowReducePlanner::SplitColumns(int64_t most) {
  const int64_t floor = kSplitColumnBytes / bytes_;
  const int64_t wanted = CoresFor(std::numeric_limits<int64_t>::max());
  const int64_t perSlab = CeilDiv(wanted, view_.outer);
  const int64_t narrow = Max(Min(floor, most), AlignUp(CeilDiv(width_, perSlab), blockLanes_));
  const int64_t width = Min(most, narrow);
  if (width >= width_) {
    data_.colTile = width_;
    data_.colTiles = 1;
  } else {
    // The tiles of all slabs are a multiple of the cores where possible, so that none is idle at the
    // end.
    int64_t tiles = CeilDiv(width_, width);
    const int64_t even = CeilDiv(view_.outer * tiles, wanted) * wanted / view_.outer;
    tiles = Max(tiles, Min(even, width_ / floor));
    const int64_t columns = CeilDiv(width_, tiles);
    const int64_t bytes = columns * bytes_;
    const int64_t step = (bytes >= kHalfLineBytes ? kHalfLineBytes : kBlockBytes) / bytes_;
    data_.colTile = LongLast(width_, Min(AlignDown(width, step), AlignUp(columns, step)),
                             blockLanes_, blockLanes_);
    data_.colTiles = CeilDiv(width_, data_.colTile);
  }
  Split(view_.outer * data_.colTiles);
}

int64_t RowReducePlanner::LongLast(int64_t total, int64_t most, int64_t multiple,
                                   int64_t least) const {
  if (!soc_.wholeBlocksOnly) {
    return most;
  }
  for (const int64_t step : {multiple, int64_t{1}}) {
    for (int64_t length = most; length >= least; length -= step) {
      const int64_t last = total - (CeilDiv(total, length) - 1) * length;
      if (last >= least || last == total) {
        return length;
      }
    }
  }
  return most;
}

void RowReducePlanner::SetL2Bypass(int64_t tilesPerCore) {
  // A narrow tile of columns uses a part of each GM request. L2 has to keep the rest for other
  // cores.
  if (data_.colTiles > 1 && data_.colTile * bytes_ % kHalfLineBytes != 0) {
    return;
  }
  const L2Bypass bypass =
      L2BypassOf(view_.outer * axis_ * width_, 3 * bytes_ + (masked_ ? 1 : 0), bytes_, soc_);
  const auto tiles = static_cast<double>(tilesPerCore);
  data_.inputsBypassL2 = static_cast<int64_t>(std::ceil(bypass.inputs * tiles));
  // Results bypass L2 only as far as they have no place in it: copies that share a line move that
  // line twice if they bypass L2.
  data_.resultsBypassL2 = static_cast<int64_t>(std::floor(bypass.results * tiles));
}

std::string RowReducePlanner::Finish(const UbBudget& budget, const UbBudget& shown,
                                     const std::string& hint) {
  plan_.ubBytes = budget.Total();
  if (data_.tileLanes > 0 && Holds(budget)) {
    return {};
  }
  return std::string(op_) + ": UB needs " + WithCommas(shown.Total()) + " B of " +
         WithCommas(static_cast<uint64_t>(Max(0, usable_))) + " B usable on " + soc_.name + " (" +
         shown.Table() + ") at [A, R, B] = [" + std::to_string(view_.outer) + ", " +
         std::to_string(view_.reduce) + ", " + std::to_string(view_.inner) + "], " +
         std::to_string(bytes_) + " B per element. " + hint;
}

}  // namespace optiling
