// SPDX-License-Identifier: Apache-2.0
// UbOf gives the buffers that an element-wise operator keeps in UB
// (op_kernel/common/elementwise.h).
#ifndef OP_HOST_COMMON_ELEMENTWISE_UB_H_
#define OP_HOST_COMMON_ELEMENTWISE_UB_H_

#include "common/tuning.h"
#include "common/ub_buffers.h"

namespace elementwise {

using namespace common;

// Operands in fp32 lie kApartLanes further apart than a tile of `lanes` elements is long, so that
// they start in different bank groups. Two 16-bit inputs leave room for the fp32 result in their
// own buffer.
HOST_AND_DEVICE TileUb UbOf(int64_t lanes, int64_t elementBytes, int64_t inputs) {
  const bool fp32 = elementBytes == kFloatBytes;
  const int64_t apart = lanes + kApartLanes;
  TileUb ub;
  ub.in = Buffers(2, inputs * (fp32 ? apart : lanes) * elementBytes);
  ub.out = Buffers(2, lanes * elementBytes);
  ub.work = Buffer(fp32 ? 0 : (inputs >= 2 ? inputs : inputs + 1) * apart * kFloatBytes);
  return ub;
}

}  // namespace elementwise

#endif  // OP_HOST_COMMON_ELEMENTWISE_UB_H_
