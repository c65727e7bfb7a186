// SPDX-License-Identifier: Apache-2.0
#include "common/row_reduce_planner.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace optiling {
namespace {

constexpr int64_t kEvenUnits = 8;  // up to so many units per core, an uneven split would show
constexpr int64_t kSplitColumnBytes = 128;
constexpr int64_t kLineColumnBytes = 8192;  // column tiles that start on a line

}  // namespace

int64_t RowReducePlanner::TileLanesUp(int64_t lanes) const {
  return bytes_ < kFloatBytes ? AlignUp(lanes, 2 * kRepeatLanes) : ApartUp(lanes);
}

int64_t RowReducePlanner::TileLanesDown(int64_t lanes) const {
  const int64_t up = TileLanesUp(lanes);
  return up > lanes ? up - 2 * kRepeatLanes : up;
}

void RowReducePlanner::AddWork(int64_t lanes, UbBudget* budget) const {
  if (bytes_ < kFloatBytes) {
    budget->Add("f32 work", 1, static_cast<uint64_t>((2 * lanes + kWorkApart) * kFloatBytes));
  }
}

int64_t RowReducePlanner::PeriodOf(int64_t columns) {
  return std::lcm(columns, kBlockBytes / kFloatBytes);
}

void RowReducePlanner::AddFolded(int64_t units, UbBudget* budget) const {
  if (!Folded()) {
    return;
  }
  const int64_t period = PeriodOf(plan_.columns);
  const int64_t turned =
      std::max<int64_t>(1, std::min<int64_t>(units, kRowReduceFoldedLanes / period)) * period;
  budget->Add("sums of columns", 1, static_cast<uint64_t>(units * view_.inner * kFloatBytes));
  budget->Add("periods", 1, static_cast<uint64_t>(2 * turned * kFloatBytes));
  budget->Add("turned periods", 1, static_cast<uint64_t>(turned * kFloatBytes));
  budget->Add("lane offsets", 1, static_cast<uint64_t>(turned * kFloatBytes));
}

int64_t RowReducePlanner::CoresFor(int64_t units) const {
  // Arithmetic takes as long for 16 bit as for fp32.
  const int64_t bytes = view_.outer * view_.reduce * view_.inner * kFloatBytes;
  return std::min(units, CoresForBytes(bytes, soc_));
}

void RowReducePlanner::Split(int64_t units) {
  plan_.units = units;
  plan_.cores = CoresFor(units);
  if (plan_.cores < soc_.cores &&
      !soc_.wholeBlocksOnly) {  // as few as have no more units than one of them has anyway
    plan_.cores = CeilDiv(units, CeilDiv(units, plan_.cores));
  }
}

void RowReducePlanner::SplitColumns(int64_t most) {
  const int64_t floor = kSplitColumnBytes / bytes_;
  const int64_t wanted = CoresFor(std::numeric_limits<int64_t>::max());
  const int64_t perSlab = CeilDiv(wanted, view_.outer);
  const int64_t narrow =
      std::max(std::min(floor, most), AlignUp(CeilDiv(view_.inner, perSlab), blockLanes_));
  const int64_t width = std::min(most, narrow);
  if (width >= view_.inner) {
    plan_.colTile = view_.inner;
    plan_.colTiles = 1;
  } else {
    int64_t tiles = CeilDiv(view_.inner, width);
    if (view_.outer * tiles < kEvenUnits * wanted) {
      // Few units per core: as many as all cores can share without a rest.
      const int64_t even = CeilDiv(view_.outer * tiles, wanted) * wanted / view_.outer;
      tiles = std::max(tiles, std::min(even, view_.inner / floor));
    }
    const int64_t columns = CeilDiv(view_.inner, tiles);
    const int64_t bytes = columns * bytes_;
    const int64_t step = (bytes >= kLineColumnBytes ? kLineBytes
                          : bytes >= kHalfLineBytes ? kHalfLineBytes
                                                    : kBlockBytes) /
                         bytes_;
    plan_.colTile =
        LongLastPart(view_.inner, std::min(AlignDown(width, step), AlignUp(columns, step)),
                     blockLanes_, blockLanes_);
    plan_.colTiles = CeilDiv(view_.inner, plan_.colTile);
  }
  Split(view_.outer * plan_.colTiles);
}

int64_t RowReducePlanner::LongLastPart(int64_t total, int64_t part, int64_t unit,
                                       int64_t least) const {
  if (!soc_.wholeBlocksOnly) {
    return part;
  }
  for (const int64_t step : {unit, int64_t{1}}) {
    for (int64_t length = part; length >= least; length -= step) {
      const int64_t last = total - (CeilDiv(total, length) - 1) * length;
      if (last >= least || last == total) {
        return length;
      }
    }
  }
  return part;
}

int32_t RowReducePlanner::PastL2Of(int64_t tilesPerCore) const {
  // Narrow columns leave a part of each GM request to other cores, for which L2 has to keep it.
  if (plan_.colTiles > 1 && plan_.colTile * bytes_ % kHalfLineBytes != 0) {
    return 0;
  }
  const PastL2 past = SharesPastL2(view_.outer * view_.reduce * view_.inner,
                                   3 * bytes_ + (masked_ ? 1 : 0), bytes_, soc_);
  const auto tiles = static_cast<double>(tilesPerCore);
  // Copies that share lines read them twice past L2: not more of them than has no place.
  return static_cast<int32_t>(std::ceil(past.inputs * tiles) + std::floor(past.results * tiles));
}

std::string RowReducePlanner::Finish(const UbBudget& budget, const UbBudget& shown,
                                     const std::string& hint, RowReducePlan* plan) {
  plan_.ubBytes = budget.Total();
  if (plan_.tileLanes > 0 && plan_.ubBytes <= static_cast<uint64_t>(usable_)) {
    *plan = plan_;
    return {};
  }
  return std::string(op_) + ": UB needs " + WithCommas(shown.Total()) + " B of " +
         WithCommas(static_cast<uint64_t>(std::max<int64_t>(0, usable_))) + " B usable on " +
         soc_.name + " (" + shown.Table() + ") at [A, R, B] = [" + std::to_string(view_.outer) +
         ", " + std::to_string(view_.reduce) + ", " + std::to_string(view_.inner) + "], " +
         std::to_string(bytes_) + " B per element. " + hint;
}

}  // namespace optiling
