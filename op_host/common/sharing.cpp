// SPDX-License-Identifier: Apache-2.0
#include "common/sharing.h"

#include <algorithm>
#include <vector>

#include "common/soc_facts.h"

namespace optiling {
namespace {

using rowreduce::ModelCores;
using rowreduce::Sharing;

constexpr int64_t kHalfLineBytes = 256;

ModelCores ModelCoresOf(uint64_t ubBytes) {
  return ubBytes <= kSmallUbBytes ? rowreduce::kModelCores : rowreduce::kModelCoresOfLargeUb;
}

std::vector<Sharing> HoldingsOf(const SharedAxis& axis) {
  if (axis.width > 1) {
    return {std::begin(rowreduce::kHoldsColumns), std::end(rowreduce::kHoldsColumns)};
  }
  if (axis.elementBytes == kFloatBytes) {
    return {std::begin(rowreduce::kHoldsFp32Rows), std::end(rowreduce::kHoldsFp32Rows)};
  }
  return {};
}

double OverlapOf(const SharedAxis& axis, const Sharing& sharing) {
  const rowreduce::Overlap& overlap =
      axis.elementBytes == kFloatBytes ? rowreduce::kOverlap : rowreduce::kOverlapOf16Bit;
  const int64_t late = LateOf(sharing.ring, sharing.keep);
  const int64_t left = sharing.ring - (late + 1) * sharing.keep;
  const double reached = late > 0 ? (left > 0 ? overlap.lateAndAhead : overlap.late)
                                  : (left > 1 ? overlap.ahead : overlap.none);
  return axis.width == 1 && late > 1 && sharing.keep > 1 ? rowreduce::kRowsInHalves * reached
                                                         : reached;
}

// Rows of which SCALAR is busy with the sums of parts. Rows in registers leave it time.
bool IsNarrowRow(const SharedAxis& axis) {
  return axis.width == 1 && axis.elementBytes < kFloatBytes && axis.ubBytes <= kSmallUbBytes;
}

// The share of the bandwidth bound that may be expected.
double Reached(const SharedAxis& axis, const Sharing& sharing, int64_t parts, int64_t cores) {
  if (parts > cores) {
    return 0;
  }
  const bool fp32 = axis.elementBytes == kFloatBytes;
  // Pieces go around among all cores where that makes no core wait.
  const bool around = LateOf(sharing.ring, sharing.keep) > 1;
  const double working =
      around ? 1 : static_cast<double>(cores / parts * parts) / static_cast<double>(cores);
  const double enough = fp32 ? std::min(1.0, working / rowreduce::kEnoughCores) : working;
  // Each part reads the sums of all, which are as long as a step along the axis.
  const double steps =
      (fp32 ? rowreduce::kTensors : rowreduce::kSteps) * static_cast<double>(axis.reduce);
  const double sums = axis.width > 1 ? static_cast<double>(parts * (parts + 1)) : 0;
  const double chunk =
      static_cast<double>(axis.reduce * axis.width) / static_cast<double>(parts * sharing.keep);
  const double lines = IsNarrowRow(axis)
                           ? static_cast<double>((parts - 1) / int64_t{rowreduce::kCacheLineLanes})
                           : 0;
  const double overhead = rowreduce::kChunkOverhead +
                          rowreduce::kLineOfSums * lines / static_cast<double>(sharing.keep);
  const double reached =
      OverlapOf(axis, sharing) * enough * steps / (steps + sums) * chunk / (chunk + overhead);
  const double ofHalfLine =
      static_cast<double>(axis.width * axis.elementBytes) / static_cast<double>(kHalfLineBytes);
  return axis.width > 1 ? std::min(rowreduce::kOfHalfLines * ofHalfLine, reached) : reached;
}

}  // namespace

int64_t LateOf(int64_t ring, int64_t held) {
  return std::min<int64_t>(rowreduce::kMostLate, std::max<int64_t>(0, ring / held - 1));
}

int64_t PartsOfStreams(uint64_t ubBytes) {
  return std::min<int64_t>(rowreduce::kMostParts, ModelCoresOf(ubBytes).second);
}

SharingChoice ChooseSharing(
    const std::vector<SharedAxis>& axes,
    const std::function<int64_t(size_t axis, const Sharing& sharing)>& fewestParts) {
  struct Candidate {
    SharingChoice choice;
    double onFirst;
    double onBoth;
  };
  for (const Sharing& holding : HoldingsOf(axes[0])) {
    if (fewestParts(0, holding) == 1) {
      return {0, holding.ring, 1};
    }
  }
  const ModelCores cores = ModelCoresOf(axes[0].ubBytes);
  std::vector<Candidate> candidates;
  double most = 0;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    for (const Sharing& sharing : rowreduce::kSharings) {
      const int64_t fewest = fewestParts(axis, sharing);
      // A few more may share out evenly.
      const int64_t atMost =
          IsNarrowRow(axes[axis]) ? fewest + fewest / rowreduce::kPartsToSpare : fewest;
      for (int64_t parts = fewest; parts > 0 && parts <= atMost; ++parts) {
        const double onFirst = Reached(axes[axis], sharing, parts, cores.first);
        const double onSecond = Reached(axes[axis], sharing, parts, cores.second);
        candidates.push_back(
            {{axis, sharing.ring, parts}, onFirst, rowreduce::kOfFirst * onFirst + onSecond});
        most = std::max(most, onFirst);
      }
    }
  }
  SharingChoice best{0, rowreduce::kSharings[0].ring, 0};
  double bestOnBoth = 0;
  for (const Candidate& candidate : candidates) {
    if (candidate.onFirst >= rowreduce::kNear * most && candidate.onBoth > bestOnBoth) {
      best = candidate.choice;
      bestOnBoth = candidate.onBoth;
    }
  }
  return best;
}

}  // namespace optiling
