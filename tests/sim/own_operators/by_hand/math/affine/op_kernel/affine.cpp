// SPDX-License-Identifier: Apache-2.0
// y = x * scale + offset of at most 32 KB, on one core.
#include "affine_tiling_data.h"
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void affine(GM_ADDR x, GM_ADDR offset, GM_ADDR y,
                                             GM_ADDR workspace, GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(AffineTilingData);
  GET_TILING_DATA(data, tiling);
  GlobalTensor<float> source, added, target;
  source.SetGlobalBuffer((__gm__ float*)x, data.count);
  added.SetGlobalBuffer((__gm__ float*)offset, data.count);
  target.SetGlobalBuffer((__gm__ float*)y, data.count);
  TPipe pipe;
  TBuf<TPosition::VECCALC> first, second;
  const DataCopyExtParams length(1, data.count * sizeof(float), 0, 0, 0);
  pipe.InitBuffer(first, data.count * sizeof(float) + 32);
  pipe.InitBuffer(second, data.count * sizeof(float) + 32);
  LocalTensor<float> value = first.Get<float>();
  LocalTensor<float> shift = second.Get<float>();
  DataCopyPad(value, source, length, DataCopyPadExtParams<float>());
  DataCopyPad(shift, added, length, DataCopyPadExtParams<float>());
  PipeBarrier<PIPE_ALL>();
  Muls(value, value, data.scale, data.count);
  PipeBarrier<PIPE_V>();
  Add(value, value, shift, data.count);
  PipeBarrier<PIPE_ALL>();
  DataCopyPad(target, value, length);
}
