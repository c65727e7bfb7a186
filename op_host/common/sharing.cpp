// SPDX-License-Identifier: Apache-2.0
#include "common/sharing.h"

#include <algorithm>
#include <vector>

namespace optiling {
namespace {

ModelCores ModelCoresOf(uint64_t ubBytes) {
  return ubBytes <= kSmallUbBytes ? kModelCores : kModelCoresOfLargeUb;
}

double OverlapOf(const SharedAxis& axis, const Sharing& sharing) {
  const Overlap& overlap = axis.elementBytes == kFloatBytes ? kOverlap : kOverlapOf16Bit;
  const int64_t late = RoundsLate(sharing.chunkBuffers, sharing.keptChunks);
  const int64_t left = sharing.chunkBuffers - (late + 1) * sharing.keptChunks;
  return late > 0 ? (left > 0 ? overlap.lateAndAhead : overlap.late)
                  : (left > 1 ? overlap.ahead : overlap.none);
}

// Such rows keep SCALAR busy with the sums of parts. Rows in registers leave it time.
bool KeepsScalarBusy(const SharedAxis& axis) {
  return axis.width == 1 && axis.elementBytes < kFloatBytes && axis.ubBytes <= kSmallUbBytes;
}

// Reached is the part of the bandwidth bound that a sharing may be expected to reach on `cores`
// cores.
double Reached(const SharedAxis& axis, const Sharing& sharing, int64_t parts, int64_t cores) {
  if (parts > cores) {
    return 0;
  }
  const bool fp32 = axis.elementBytes == kFloatBytes;
  // Pieces are spread over all cores where that makes no core wait.
  const bool spread = RoundsLate(sharing.chunkBuffers, sharing.keptChunks) > 1;
  const double working =
      spread ? 1 : static_cast<double>(cores / parts * parts) / static_cast<double>(cores);
  const double enough = fp32 ? Min(1.0, working / kEnoughCores) : working;
  // Each part reads the sums of all, which are as long as a row of the axis.
  const double work = (fp32 ? kTensors : kInstructions) * static_cast<double>(axis.reduce);
  const double sums = axis.width > 1 ? static_cast<double>(parts * (parts + 1)) : 0;
  const double chunk = static_cast<double>(axis.reduce * axis.width) /
                       static_cast<double>(parts * sharing.keptChunks);
  const double lines =
      KeepsScalarBusy(axis) ? static_cast<double>((parts - 1) / kCacheLineLanes) : 0;
  const double overhead =
      kChunkOverhead + kLineOfSums * lines / static_cast<double>(sharing.keptChunks);
  const double reached =
      OverlapOf(axis, sharing) * enough * work / (work + sums) * chunk / (chunk + overhead);
  const double ofHalfLine =
      static_cast<double>(axis.width * axis.elementBytes) / static_cast<double>(kHalfLineBytes);
  return axis.width > 1 ? Min(ofHalfLine, reached) : reached;
}

}  // namespace

int64_t RoundsLate(int64_t chunkBuffers, int64_t keptChunks) {
  return Min(kMostLate, Max(0, chunkBuffers / keptChunks - 1));
}

int64_t PartsBeyondUb(uint64_t ubBytes) { return Min(kMostParts, ModelCoresOf(ubBytes).second); }

SharingChoice ChooseSharing(
    const std::vector<SharedAxis>& axes,
    const std::function<int64_t(size_t axis, const Sharing& sharing)>& fewestParts) {
  struct Candidate {
    SharingChoice choice;
    double onFirst;
    double onBoth;
  };
  const bool columns = axes[0].width > 1;
  const Sharing& holds = columns ? kHoldsColumns : kHoldsFp32Rows;
  if ((columns || axes[0].elementBytes == kFloatBytes) && fewestParts(0, holds) == 1) {
    return {0, holds.chunkBuffers, 1};
  }
  const ModelCores cores = ModelCoresOf(axes[0].ubBytes);
  const bool spares = columns && axes[0].elementBytes == kFloatBytes;
  const double ofFirst = spares ? kOfFirstWithSpares : kOfFirst;
  std::vector<Candidate> candidates;
  double most = 0;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    for (const Sharing& sharing : kSharings) {
      const int64_t fewest = fewestParts(axis, sharing);
      const int64_t enough = Min(kMostParts, fewest + (spares ? fewest / kSpareParts : 0));
      for (int64_t parts = Max(1, fewest); parts <= enough; ++parts) {
        const double onFirst = Reached(axes[axis], sharing, parts, cores.first);
        const double onSecond = Reached(axes[axis], sharing, parts, cores.second);
        candidates.push_back(
            {{axis, sharing.chunkBuffers, parts}, onFirst, ofFirst * onFirst + onSecond});
        most = Max(most, onFirst);
      }
    }
  }
  SharingChoice best{0, kSharings[0].chunkBuffers, 0};
  double bestOnBoth = 0;
  for (const Candidate& candidate : candidates) {
    if (candidate.onFirst >= kNear * most && candidate.onBoth > bestOnBoth) {
      best = candidate.choice;
      bestOnBoth = candidate.onBoth;
    }
  }
  return best;
}

}  // namespace optiling
