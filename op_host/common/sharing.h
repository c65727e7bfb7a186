// SPDX-License-Identifier: Apache-2.0
// How cores share an axis that is longer than a tile: chunk buffers, how many of them keep a part, and columns of which width.
#ifndef OP_HOST_COMMON_SHARING_H_
#define OP_HOST_COMMON_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/tuning.h"

namespace optiling {

struct SharedAxis {
  int64_t reduce;
  int64_t width;  // elements of a step along it: 1 in a row, the columns of a unit
  int64_t elementBytes;
  uint64_t ubBytes;
};

struct SharingChoice {
  size_t axis;
  int64_t ring;
  int64_t parts;  // 0: no UB holds the axis
};

// Rounds that a core's results may come after its sums, where `held` of its buffers keep a piece.
int64_t LateOf(int64_t ring, int64_t held);

// Parts of an axis that no UB holds: what all cores can take at once, of SoCs with fewer cores too.
int64_t PartsOfStreams(uint64_t ubBytes);

// Chooses among the ways of tuning.h by what each is expected to reach, for columns of several widths, the first of which is
// preferred. The choice follows from the axis and from UB, not from the number of cores, on which chunks and with them the
// order of additions must not depend. `fewestParts` gives the parts that a sharing takes, 0 if they are too many.
SharingChoice ChooseSharing(
    const std::vector<SharedAxis>& axes,
    const std::function<int64_t(size_t axis, const rowreduce::Sharing& sharing)>& fewestParts);

}  // namespace optiling

#endif  // OP_HOST_COMMON_SHARING_H_
