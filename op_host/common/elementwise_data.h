// SPDX-License-Identifier: Apache-2.0
// This file has the tiling data of the element-wise operators, and their buffers in UB. Host and device include it.
#ifndef OP_HOST_COMMON_ELEMENTWISE_DATA_H_
#define OP_HOST_COMMON_ELEMENTWISE_DATA_H_

#include <cstdint>

#include "common/sizes.h"
#include "common/tuning.h"

#define ELEMENTWISE_FULL_LOAD 1  // tiling key of op_kernel/common/elementwise.h

// Core c has coreLanes elements, one line more if c < extraCores. The last core ends at total.
#define ELEMENTWISE_TILING_FIELDS(FIELD)                                    \
  FIELD(total)           /* elements */                                     \
  FIELD(coreLanes)       /* elements of a core */                           \
  FIELD(extraCores)      /* cores that have a line more */                  \
  FIELD(lineLanes)       /* elements of a GM line */                        \
  FIELD(tileLanes)       /* elements of room for one operand in a buffer */ \
  FIELD(inputsBypassL2)  /* 1: inputs bypass L2 */                          \
  FIELD(resultsBypassL2) /* leading tiles of a core whose results bypass L2 */

struct ElementwiseTilingData {
#define ELEMENTWISE_MEMBER(name) int64_t name;
  ELEMENTWISE_TILING_FIELDS(ELEMENTWISE_MEMBER)
#undef ELEMENTWISE_MEMBER
};

namespace elementwise {

using namespace common;

// UbOf gives the buffers that an element-wise operator keeps in UB, for tiles of `lanes` elements. Two 16-bit inputs leave room
// for the fp32 result in their own buffer.
HOST_AND_DEVICE TileUb UbOf(int64_t lanes, int64_t elementBytes, int64_t inputs) {
  TileUb ub;
  ub.in = Buffers(2, inputs * lanes * elementBytes);
  ub.out = Buffers(2, lanes * elementBytes);
  if (elementBytes < kFloatBytes) {
    ub.work = Buffer((inputs >= 2 ? inputs : inputs + 1) * lanes * kFloatBytes);
  }
  return ub;
}

}  // namespace elementwise

#endif  // OP_HOST_COMMON_ELEMENTWISE_DATA_H_
