// SPDX-License-Identifier: Apache-2.0
// UbBuffer describes a buffer of UB. Each layout has a struct of them, from which the kernel makes
// its buffers and the tiling adds them up, so no budget is written twice. Sizes are bytes; TPipe
// rounds them up to whole blocks.
#ifndef OP_HOST_COMMON_UB_BUFFERS_H_
#define OP_HOST_COMMON_UB_BUFFERS_H_

#include "common/sizes.h"

namespace common {

struct UbBuffer {
  uint32_t count = 0;  // 2: double buffering
  uint32_t bytes = 0;  // size of each; 0: there is none
};

// Sizes that the tiling tries may be far larger than UB: they count as 4 GB then.
HOST_AND_DEVICE UbBuffer Buffers(int64_t count, int64_t bytes) {
  return UbBuffer{static_cast<uint32_t>(count), static_cast<uint32_t>(Min(bytes, 0xFFFFFFFF))};
}
HOST_AND_DEVICE UbBuffer Buffer(int64_t bytes) { return Buffers(bytes > 0 ? 1 : 0, bytes); }

// TileUb has the buffers of a tile, for layouts that need no others.
struct TileUb {
  UbBuffer in;    // all operands
  UbBuffer out;   // the results
  UbBuffer work;  // fp32 lanes of 16-bit types

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    visit("in", in);
    visit("out", out);
    visit("f32 work", work);
  }
};

}  // namespace common

#endif  // OP_HOST_COMMON_UB_BUFFERS_H_
