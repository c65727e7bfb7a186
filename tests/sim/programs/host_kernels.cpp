// SPDX-License-Identifier: Apache-2.0
// Kernels whose faults only the memory around their arguments shows.
#include "kernel_operator.h"

// Writes 4 bytes by a plain pointer: `offset` bytes from the start of `gm`, which may be outside.
extern "C" __global__ __aicore__ void poke(GM_ADDR gm, GM_ADDR offset) {
  const int64_t distance = *reinterpret_cast<__gm__ int64_t*>(offset);
  *reinterpret_cast<__gm__ int32_t*>(gm + distance) = 42;  // POKE
}

// As poke, but not twice: it leaves an offset of 0.
extern "C" __global__ __aicore__ void poke_once(GM_ADDR gm, GM_ADDR offset) {
  auto* distance = reinterpret_cast<__gm__ int64_t*>(offset);
  *reinterpret_cast<__gm__ int32_t*>(gm + *distance) = 42;
  *distance = 0;
}

// Writes n numbers by a plain pointer, and the last core one more.
extern "C" __global__ __aicore__ void fill_by_pointer(GM_ADDR gm, GM_ADDR n) {
  auto* out = reinterpret_cast<__gm__ int32_t*>(gm);
  const int64_t count = *reinterpret_cast<__gm__ int64_t*>(n);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<int32_t>(i);
  }
  if (AscendC::GetBlockIdx() + 1 == AscendC::GetBlockNum()) {
    out[count] = 7;  // ONE_MORE
  }
}

// Adds up n floats into sum.
extern "C" __global__ __aicore__ void add_up(GM_ADDR values, GM_ADDR sum, GM_ADDR n) {
  AscendC::GlobalTensor<float> in;
  AscendC::GlobalTensor<float> out;
  in.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(values));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(sum));
  const int64_t count = *reinterpret_cast<__gm__ int64_t*>(n);
  float total = 0.0F;
  for (int64_t i = 0; i < count; ++i) {
    total += in.GetValue(static_cast<uint64_t>(i));  // READ
  }
  out.SetValue(0, total);
}
