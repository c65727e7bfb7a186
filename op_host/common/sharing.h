// SPDX-License-Identifier: Apache-2.0
// ChooseSharing decides how cores share an axis that is longer than a tile: how many chunk buffers there are, how many chunks
// stay in them, and how wide columns are.
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
  int64_t width;  // 1 in a row, else the columns of a unit
  int64_t elementBytes;
  uint64_t ubBytes;
};

struct SharingChoice {
  size_t axis;
  int64_t chunkBuffers;
  int64_t parts;  // 0: no UB holds the axis
};

// RoundsLate returns by how many rounds the results of a piece may follow its sums, where `keptChunks`
// of the chunk buffers hold it.
int64_t RoundsLate(int64_t chunkBuffers, int64_t keptChunks);

// PartsBeyondUb returns the number of parts of an axis that no UB holds. It is small enough for
// all of them to be taken at once, also on SoCs with fewer cores.
int64_t PartsBeyondUb(uint64_t ubBytes);

// ChooseSharing picks the entry of kSharings that is expected to come closest to the bandwidth
// bound, for columns of several widths, the first of which is preferred. The choice follows from
// the axis and from UB alone: chunks, and with them the order of additions, must not depend on the
// number of cores. `fewestParts` gives the parts that a sharing takes, 0 if they are too many.
SharingChoice ChooseSharing(
    const std::vector<SharedAxis>& axes,
    const std::function<int64_t(size_t axis, const Sharing& sharing)>& fewestParts);

}  // namespace optiling

#endif  // OP_HOST_COMMON_SHARING_H_
