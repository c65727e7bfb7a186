// SPDX-License-Identifier: Apache-2.0
// y = x * x, on one core, of at most 32 KB.
#include "kernel_operator.h"
#include "square_tiling_data.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                             GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(SquareTilingData);
  GET_TILING_DATA(data, tiling);
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x, data.count);
  target.SetGlobalBuffer((__gm__ float*)y, data.count);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, data.count * sizeof(float));
  LocalTensor<float> value = buffer.Get<float>();
  DataCopyPad(value, source, {1, data.count * 4, 0, 0, 0}, {false, 0, 0, 0});
  PipeBarrier<PIPE_ALL>();
  Mul(value, value, value, data.count);
  PipeBarrier<PIPE_ALL>();
  DataCopyPad(target, value, {1, data.count * 4, 0, 0, 0});
}
