// SPDX-License-Identifier: Apache-2.0
// Two entries, values among their arguments: total += scale * x (+ TOTALS_MORE), or with a struct.
#include "totals.h"

using namespace AscendC;

#ifndef TOTALS_MORE
#define TOTALS_MORE 0
#endif

template <typename T>
__aicore__ inline void Accumulate(GM_ADDR total, GM_ADDR x, uint32_t count, float scale) {
  GlobalTensor<T> source, target;
  source.SetGlobalBuffer((__gm__ T*)x, count);
  target.SetGlobalBuffer((__gm__ T*)total, count);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 2 * count * sizeof(T));
  LocalTensor<T> value = buffer.Get<T>();
  LocalTensor<T> sum = value[count];
  DataCopy(value, source, count);
  DataCopy(sum, target, count);
  PipeBarrier<PIPE_ALL>();
  Muls(value, value, static_cast<T>(scale), count);
  PipeBarrier<PIPE_V>();
  Add(sum, sum, value, count);
  PipeBarrier<PIPE_V>();
  Adds(sum, sum, static_cast<T>(TOTALS_MORE), count);
  PipeBarrier<PIPE_ALL>();
  DataCopy(target, sum, count);
}

#define TOTALS_ENTRY(TYPE)                                                                      \
  extern "C" __global__ __aicore__ void totals_##TYPE(GM_ADDR total, GM_ADDR x, uint32_t count, \
                                                      float scale) {                            \
    Accumulate<TYPE>(total, x, count, scale);                                                   \
  }
TOTALS_ENTRY(float)
TOTALS_ENTRY(half)

extern "C" __global__ __aicore__ void totals_changed(GM_ADDR total, GM_ADDR x, Change change,
                                                     bool twice) {
  Accumulate<float>(total, x, change.times, twice ? 2 * change.factor : change.factor);
}

#ifndef ASCENDC_CPU_DEBUG
void totals_do(uint32_t blocks, void* stream, uint8_t* total, uint8_t* x, uint32_t count) {
  totals_float<<<blocks, nullptr, stream>>>(total, x, count, 1.0f);
}
#endif
