// SPDX-License-Identifier: Apache-2.0
#include "common/row_reduce_sharing.h"

#include <algorithm>
#include <vector>

namespace optiling {
namespace {

constexpr int64_t kFloatBytes = 4;

// Cores of the SoCs that sharings are chosen for, by the size of their UB. What comes near the best on the
// first is judged by both.
struct ModelCores {
  int64_t first;
  int64_t second;
};
constexpr ModelCores kModelCores{48, 40};
constexpr ModelCores kModelCoresOfLargeUb{72, 56};
constexpr uint64_t kSmallUbBytes = 192 * 1024;

ModelCores ModelCoresOf(uint64_t ubBytes) {
  return ubBytes <= kSmallUbBytes ? kModelCores : kModelCoresOfLargeUb;
}

constexpr double kNear = 0.85;
constexpr double kOfFirst = 3;  // what the first counts by the second

// Shares of the bandwidth bound by the timing model, with all cores at work, of parts that are long and few.
struct Overlap {
  double lateAndAhead;  // results come a round late, and a buffer is left for a load meanwhile
  double late;          // no buffer is
  double ahead;  // a core waits for the sums of its round, and has two buffers for loads meanwhile
  double none;   // it has one, or none
};
constexpr Overlap kOverlap{0.91, 0.90, 0.85, 0.65};
constexpr Overlap kOverlapOf16Bit{0.84, 0.76, 0.70, 0.58};
// Rows in pieces of two chunks or more, with results two rounds late: one of them alone is loaded ahead.
constexpr double kRowsInHalves = 0.87;
// Of columns of half a GM line. Narrower ones have the rate of L2, which moves the line for a part of it.
constexpr double kOfHalfLines = 1.14;
constexpr int64_t kHalfLineBytes = 256;
// fp32: this share of the cores keeps GM busy.
constexpr double kEnoughCores = 0.85;
// What sums are an addition to: fp32, the three tensors in GM; 16 bit, instructions on each element.
constexpr double kTensors = 3;
constexpr double kSteps = 9;
// Elements that a core works off in the time of what a chunk takes once: latencies, waits, short folds.
constexpr double kChunkOverhead = 256;
// And of 16 bit in that of a line of sums of a row, which the scalar unit drops from its data cache and reads again:
// that of the first one is hidden.
constexpr double kLineOfSums = 400;
// Of 16-bit rows one part in so many may be more than UB needs.
constexpr int64_t kPartsToSpare = 4;

// Ways in which one core may hold the axis, the best first: it waits for no other then.
std::vector<Sharing> HoldingsOf(const SharedAxis& axis) {
  if (axis.width > 1) {
    return {{4, 4}, {7, 7}};
  }
  return axis.elementBytes == kFloatBytes ? std::vector<Sharing>{{5, 3}, {6, 4}}
                                          : std::vector<Sharing>{};
}

constexpr Sharing kSharings[] = {{4, 1}, {5, 2}, {7, 2}, {6, 2}, {7, 3}, {6, 3}, {4, 2},
                                 {5, 3}, {7, 4}, {6, 4}, {7, 5}, {7, 6}, {5, 5}};

double OverlapOf(const SharedAxis& axis, const Sharing& sharing) {
  const Overlap& overlap = axis.elementBytes == kFloatBytes ? kOverlap : kOverlapOf16Bit;
  const int64_t late = LateOf(sharing.ring, sharing.keep);
  const int64_t left = sharing.ring - (late + 1) * sharing.keep;
  const double reached = late > 0 ? (left > 0 ? overlap.lateAndAhead : overlap.late)
                                  : (left > 1 ? overlap.ahead : overlap.none);
  return axis.width == 1 && late > 1 && sharing.keep > 1 ? kRowsInHalves * reached : reached;
}

// Rows of which the scalar unit is busy with the sums of parts. Those in registers are not.
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
  const double enough = fp32 ? std::min(1.0, working / kEnoughCores) : working;
  // Each part reads the sums of all, which are as long as a step along the axis.
  const double steps = (fp32 ? kTensors : kSteps) * static_cast<double>(axis.reduce);
  const double sums = axis.width > 1 ? static_cast<double>(parts * (parts + 1)) : 0;
  const double chunk =
      static_cast<double>(axis.reduce * axis.width) / static_cast<double>(parts * sharing.keep);
  const double lines =
      IsNarrowRow(axis) ? static_cast<double>((parts - 1) / kRowReduceSlotLanes) : 0;
  const double overhead = kChunkOverhead + kLineOfSums * lines / static_cast<double>(sharing.keep);
  const double reached =
      OverlapOf(axis, sharing) * enough * steps / (steps + sums) * chunk / (chunk + overhead);
  const double ofHalfLine =
      static_cast<double>(axis.width * axis.elementBytes) / static_cast<double>(kHalfLineBytes);
  return axis.width > 1 ? std::min(kOfHalfLines * ofHalfLine, reached) : reached;
}

}  // namespace

int64_t LateOf(int64_t ring, int64_t held) {
  return std::min<int64_t>(kRowReduceMostLate, std::max<int64_t>(0, ring / held - 1));
}

int64_t PartsOfStreams(uint64_t ubBytes) {
  return std::min<int64_t>(kRowReduceMostParts, ModelCoresOf(ubBytes).second);
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
    for (const Sharing& sharing : kSharings) {
      const int64_t fewest = fewestParts(axis, sharing);
      // A few more may share out evenly.
      const int64_t atMost = IsNarrowRow(axes[axis]) ? fewest + fewest / kPartsToSpare : fewest;
      for (int64_t parts = fewest; parts > 0 && parts <= atMost; ++parts) {
        const double onFirst = Reached(axes[axis], sharing, parts, cores.first);
        const double onSecond = Reached(axes[axis], sharing, parts, cores.second);
        candidates.push_back({{axis, sharing.ring, parts}, onFirst, kOfFirst * onFirst + onSecond});
        most = std::max(most, onFirst);
      }
    }
  }
  SharingChoice best{0, kSharings[0].ring, 0};
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
