// SPDX-License-Identifier: Apache-2.0
// What the host tells an element-wise kernel. Host and device must lay it out alike: plain,
// fixed-width, no padding.
#ifndef OP_HOST_COMMON_ELEMENTWISE_DATA_H_
#define OP_HOST_COMMON_ELEMENTWISE_DATA_H_

#include <cstddef>
#include <cstdint>

// Core c has lanesPerCore elements, one line more if c < extraCores; the last core ends at total.
struct ElementwiseTilingData {
  int64_t total;
  int64_t lanesPerCore;
  int32_t extraCores;
  int32_t lineLanes;  // elements of a GM line
  int32_t tileLanes;  // elements that a buffer holds of one operand
  int32_t pastL2;     // 0: all goes through L2. n: inputs do not, nor results of n - 1 first tiles
};

static_assert(sizeof(ElementwiseTilingData) == 32, "layout is shared with the device");
static_assert(offsetof(ElementwiseTilingData, tileLanes) == 24, "layout is shared with the device");

#endif  // OP_HOST_COMMON_ELEMENTWISE_DATA_H_
