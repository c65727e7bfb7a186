// SPDX-License-Identifier: Apache-2.0
// ChooseSharing decides how cores share an axis that is longer than a tile: how many chunk buffers there are, how many of them
// keep a part, and how wide columns are.
#ifndef OP_HOST_COMMON_SHARING_H_
#define OP_HOST_COMMON_SHARING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/soc_facts.h"

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

// A core's results may come LateOf rounds after its sums where `held` of its buffers keep a piece.
int64_t LateOf(int64_t ring, int64_t held);

// An axis that no UB holds has PartsOfStreams parts: all cores take one at once, also on SoCs with fewer cores.
int64_t PartsOfStreams(uint64_t ubBytes);

// Chooses among the ways of tuning.h by what each is expected to reach, for columns of several widths, the first of which is
// preferred. The choice follows from the axis and from UB, not from the number of cores, on which chunks and with them the
// order of additions must not depend. `fewestParts` gives the parts that a sharing takes, 0 if they are too many.
SharingChoice ChooseSharing(
    const std::vector<SharedAxis>& axes,
    const std::function<int64_t(size_t axis, const Sharing& sharing)>& fewestParts);

}  // namespace optiling

#endif  // OP_HOST_COMMON_SHARING_H_
