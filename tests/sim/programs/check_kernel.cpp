// SPDX-License-Identifier: Apache-2.0
// LogSigmoidGrad for float, with a fault to plant: each is a line that is wrong, marked with its number.
#include "common/elementwise_data.h"
#include "kernel_operator.h"

using namespace AscendC;

#ifndef PLANT
#define PLANT 0
#endif
// clang-format off: a planted line stays one line.

extern "C" __global__ __aicore__ void log_sigmoid_grad(GM_ADDR grads, GM_ADDR features,
                                                       GM_ADDR backprops, GM_ADDR,
                                                       GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ElementwiseTilingData);
  GET_TILING_DATA_WITH_STRUCT(ElementwiseTilingData, t, tiling);
  if (!TILING_KEY_IS(1)) {
    return;
  }
  const int64_t core = GetBlockIdx();
  const int64_t before = core < t.extraCores ? core : t.extraCores;
  const int64_t first = core * t.coreLanes + before * t.lineLanes;
  int64_t last = first + t.coreLanes + (core < t.extraCores ? t.lineLanes : 0);
  last = last < t.total ? last : t.total;
  const int32_t tile = static_cast<int32_t>(t.tileLanes < 512 ? t.tileLanes : 512);

  TPipe pipe;
  TQue<TPosition::VECIN, 1> inQueue;
  TQue<TPosition::VECOUT, 1> outQueue;
  TBuf<> workBuffer;
  pipe.InitBuffer(inQueue, 1, tile * sizeof(float));
  pipe.InitBuffer(outQueue, 1, tile * sizeof(float));
  pipe.InitBuffer(workBuffer, tile * sizeof(float));
  const LocalTensor<float> g = workBuffer.Get<float>();
  GlobalTensor<float> gradsGm, featuresGm, outGm;
  gradsGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(grads), t.total);
  featuresGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(features), t.total);
  outGm.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(backprops), t.total);

  for (int64_t at = first; at < last; at += tile) {
    const int32_t count = last - at < tile ? static_cast<int32_t>(last - at) : tile;
    const DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
    LocalTensor<float> x = inQueue.AllocTensor<float>();
    DataCopyPad(x, featuresGm[at], copy, {false, 0, 0, 0});
    inQueue.EnQue(x);
    x = inQueue.DeQue<float>();
    DataCopyPad(g, gradsGm[at], copy, {false, 0, 0, 0});
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
#if PLANT == 1
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);  // PLANT 1: sync-redundant
#elif PLANT != 2
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
#endif
    LocalTensor<float> out = outQueue.AllocTensor<float>();
    Exp(x, x, count);
#if PLANT != 3
    PipeBarrier<PIPE_V>();
#endif
    Adds(x, x, 1.0F, count);
    PipeBarrier<PIPE_V>();
    Div(out, g, x, count);  // PLANT 2: race-read-after-write
#if PLANT == 2
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
#elif PLANT == 4
    Muls(out, out, 1.01F, count);  // PLANT 4: wrong-result
#elif PLANT == 5
    Adds(out, out, 0.0F, count == tile ? count + 1 : count);  // PLANT 5: ub-out-of-bounds
#endif
    SetFlag<HardEvent::V_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE2>(EVENT_ID0);  // a hint unless there is a second tile
    inQueue.FreeTensor(x);
    outQueue.EnQue(out);
    out = outQueue.DeQue<float>();
#if PLANT == 6
    DataCopy(outGm[at], out, count / 8 * 8);  // PLANT 6: output-unwritten
#else
    DataCopyPad(outGm[at], out, copy);
#endif
    outQueue.FreeTensor(out);
  }
}
