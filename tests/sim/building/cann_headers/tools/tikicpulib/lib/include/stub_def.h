// SPDX-License-Identifier: Apache-2.0
// Stand-in: the words of the device compiler mean nothing in the CPU-debug branch.
#pragma once
#include <cstdint>
#define __global__
#define __aicore__
#define __gm__
#define __ubuf__
struct half {
  uint16_t bits;
};
struct bfloat16_t {
  uint16_t bits;
};
extern uint64_t g_tilingKey;
