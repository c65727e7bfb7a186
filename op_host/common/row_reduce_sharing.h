// SPDX-License-Identifier: Apache-2.0
// How cores share an axis that is longer than a tile.
#ifndef OP_HOST_COMMON_ROW_REDUCE_SHARING_H_
#define OP_HOST_COMMON_ROW_REDUCE_SHARING_H_

#include <cstdint>
#include <functional>

#include "common/row_reduce_data.h"

namespace optiling {

// Chunk buffers, and how many of them keep a part between the passes. The weight is about the percent of
// the bandwidth bound that the timing model gives with all cores at work, less where that varies with the
// length of the axis.
struct Sharing {
  int64_t ring;
  int64_t keep;
  int64_t weight = 0;
  int64_t mostParts = kRowReduceMostParts;
};

struct SharedAxis {
  int64_t reduce;
  bool alongLanes;  // a row, not columns
  int64_t elementBytes;
  uint64_t ubBytes;
};

struct SharingChoice {
  int64_t ring;
  int64_t parts;  // 0: no UB holds the axis
};

// The choice follows from the axis and from UB, not from the number of cores, on which chunks and with
// them the order of additions must not depend. fewestParts gives the parts that a sharing takes, 0 if
// they are more than it allows.
SharingChoice ChooseSharing(const SharedAxis& axis,
                            const std::function<int64_t(const Sharing&)>& fewestParts);

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_SHARING_H_
