// SPDX-License-Identifier: Apache-2.0
#include "common/row_reduce_sharing.h"

#include <algorithm>
#include <vector>

namespace optiling {
namespace {

constexpr int64_t kFloatBytes = 4;

// Cores of the SoCs that sharings are chosen for, by the size of their UB. The second decides between
// those that come near the best on the first.
struct ModelCores {
  int64_t first;
  int64_t second;
};
constexpr ModelCores kModelCores{48, 40};
constexpr ModelCores kModelCoresOfLargeUb{72, 56};
constexpr uint64_t kSmallUbBytes = 192 * 1024;
constexpr double kNear = 0.95;

// Ways in which one core may hold the axis, the best first: it waits for no other then.
std::vector<Sharing> HoldingsOf(const SharedAxis& axis) {
  if (!axis.alongLanes) {
    return {{4, 4}, {7, 7}};
  }
  return axis.elementBytes == kFloatBytes ? std::vector<Sharing>{{5, 3}, {6, 4}}
                                          : std::vector<Sharing>{};
}

// Where two or three parts find room (ring >= 2 keep), results of one are written after the sums of the
// next: then no core stands still while sums are on their way. The last one's buffers are also for axes
// that no UB holds.
std::vector<Sharing> SharingsOf(const SharedAxis& axis) {
  const bool fp32 = axis.elementBytes == kFloatBytes;
  if (axis.alongLanes && fp32) {
    return {{5, 2, 94}, {6, 3, 84}, {6, 4, 65}, {5, 3, 77}};
  }
  if (axis.alongLanes) {
    // The scalar unit has little time to read sums of short parts: those of one cache line.
    return {{4, 1, 92, kRowReduceSlotLanes}, {6, 4, 62}, {5, 3, 66}, {5, 2, 84}};
  }
  if (fp32) {
    return {{5, 3, 92, 8}, {5, 2, 93}, {6, 3, 92}, {6, 4, 88}, {7, 5, 85}, {7, 6, 66}, {5, 5, 63}};
  }
  return {{5, 2, 88}, {4, 2, 86}, {6, 3, 84}, {6, 4, 72}, {7, 5, 65}, {5, 5, 62}, {4, 4, 63}};
}

// The weight by the cores that have work. With fp32, GM is the limit: four fifths of the cores saturate
// it, and the sums of columns take their share.
double Reached(const SharedAxis& axis, const Sharing& sharing, int64_t parts, int64_t cores) {
  const bool fp32 = axis.elementBytes == kFloatBytes;
  const int64_t busy = cores / parts * parts;
  const int64_t working = fp32 ? std::min(busy, cores * 4 / 5) : busy;
  const int64_t sums = fp32 && !axis.alongLanes ? parts * (parts + 1) : 0;
  const double floor = static_cast<double>(3 * axis.reduce);
  return static_cast<double>(sharing.weight * working) / static_cast<double>(cores) * floor /
         (floor + static_cast<double>(sums));
}

}  // namespace

SharingChoice ChooseSharing(const SharedAxis& axis,
                            const std::function<int64_t(const Sharing&)>& fewestParts) {
  struct Candidate {
    SharingChoice choice;
    double onFirst;
    double onBoth;
  };
  for (const Sharing& holding : HoldingsOf(axis)) {
    if (fewestParts(holding) == 1) {
      return {holding.ring, 1};
    }
  }
  const ModelCores cores = axis.ubBytes <= kSmallUbBytes ? kModelCores : kModelCoresOfLargeUb;
  std::vector<Candidate> candidates;
  double most = 0;
  SharingChoice best{0, 0};
  for (const Sharing& sharing : SharingsOf(axis)) {
    best.ring = sharing.ring;
    const int64_t parts = fewestParts(sharing);
    if (parts > 0) {
      const double onFirst = Reached(axis, sharing, parts, cores.first);
      const double onSecond = Reached(axis, sharing, parts, cores.second);
      candidates.push_back({{sharing.ring, parts}, onFirst, onFirst + onSecond});
      most = std::max(most, onFirst);
    }
  }
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
