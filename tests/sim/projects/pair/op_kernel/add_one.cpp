// SPDX-License-Identifier: Apache-2.0
// y += x + 1, on one core, of at most 32 KB.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void add_one(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                              GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x, data.count);
  target.SetGlobalBuffer((__gm__ float*)y, data.count);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, data.count * sizeof(float));
  LocalTensor<float> value = buffer.Get<float>();
  DataCopy(value, source, data.count);
  PipeBarrier<PIPE_ALL>();
  Adds(value, value, 1.0f, data.count);
  PipeBarrier<PIPE_ALL>();
  SetAtomicAdd<float>();
  DataCopy(target, value, data.count);
  SetAtomicNone();
}
