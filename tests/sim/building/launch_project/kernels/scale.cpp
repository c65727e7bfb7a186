// SPDX-License-Identifier: Apache-2.0
// y = x * factor * STEP + OFFSET, kCount elements on each core; for float and half by a macro.
#include "count.h"
#include "kernel_operator.h"

using namespace AscendC;

template <typename T>
__aicore__ inline void Scale(GM_ADDR x, GM_ADDR y, float factor) {
  GlobalTensor<T> source, target;
  source.SetGlobalBuffer((__gm__ T*)x + GetBlockIdx() * kCount, kCount);
  target.SetGlobalBuffer((__gm__ T*)y + GetBlockIdx() * kCount, kCount);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kCount * sizeof(T));
  LocalTensor<T> value = buffer.Get<T>();
  DataCopy(value, source, kCount);
  PipeBarrier<PIPE_ALL>();
  Muls(value, value, (T)(factor * STEP), kCount);
  PipeBarrier<PIPE_V>();
  Adds(value, value, (T)OFFSET, kCount);
  PipeBarrier<PIPE_ALL>();
  DataCopy(target, value, kCount);
}

#define KERNEL(T)                                                                       \
  extern "C" __global__ __aicore__ void scale_##T(GM_ADDR x, GM_ADDR y, float factor) { \
    Scale<T>(x, y, factor);                                                             \
  }

KERNEL(float)
KERNEL(half)

#ifndef ASCENDC_CPU_DEBUG
void scale_do(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* y, float factor) {
  scale_float<<<blockDim, nullptr, stream>>>(x, y, factor);
}
#endif
