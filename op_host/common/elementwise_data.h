// SPDX-License-Identifier: Apache-2.0
// This file declares the tiling data of the element-wise operators. Host and device include it.
#ifndef OP_HOST_COMMON_ELEMENTWISE_DATA_H_
#define OP_HOST_COMMON_ELEMENTWISE_DATA_H_

#include <cstdint>

#define ELEMENTWISE_FULL_LOAD 1  // tiling key of op_kernel/common/elementwise.h

// Core c has coreLanes elements, one line more if c < extraCores. The last core ends at total.
#define ELEMENTWISE_TILING_FIELDS(FIELD)                                  \
  FIELD(total)         /* elements */                                     \
  FIELD(coreLanes)     /* elements of a core */                           \
  FIELD(extraCores)    /* cores that have a line more */                  \
  FIELD(lineLanes)     /* elements of a GM line */                        \
  FIELD(tileLanes)     /* elements of room for one operand in a buffer */ \
  FIELD(inputsPastL2)  /* 1: inputs bypass L2 */                          \
  FIELD(resultsPastL2) /* leading tiles of a core whose results bypass L2 */

struct ElementwiseTilingData {
#define ELEMENTWISE_MEMBER(name) int64_t name;
  ELEMENTWISE_TILING_FIELDS(ELEMENTWISE_MEMBER)
#undef ELEMENTWISE_MEMBER
};

#endif  // OP_HOST_COMMON_ELEMENTWISE_DATA_H_
