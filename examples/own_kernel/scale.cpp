// SPDX-License-Identifier: Apache-2.0
// y = 2 * x for half, one slice per core. Plain Ascend C: nothing here knows of the simulator.
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR lengths) {
  const uint32_t count = *reinterpret_cast<__gm__ uint32_t*>(lengths);
  const uint32_t slice = (count + GetBlockNum() - 1) / GetBlockNum();
  const uint32_t start = slice * GetBlockIdx();
  if (start >= count) {
    return;
  }
  const uint32_t length = count - start < slice ? count - start : slice;

  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, slice * sizeof(half));
  pipe.InitBuffer(out, 1, slice * sizeof(half));
  GlobalTensor<half> source;
  GlobalTensor<half> target;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x) + start, length);
  target.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y) + start, length);

  // DataCopyPad: lengths are free, DataCopy would drop what is beyond whole 32-byte blocks.
  const DataCopyExtParams copy{1, static_cast<uint32_t>(length * sizeof(half)), 0, 0, 0};
  LocalTensor<half> local = in.AllocTensor<half>();
  DataCopyPad(local, source, copy, {false, 0, 0, 0});
  in.EnQue(local);
  local = in.DeQue<half>();
  LocalTensor<half> result = out.AllocTensor<half>();
  Muls(result, local, half(2.0f), length);
  in.FreeTensor(local);
  out.EnQue(result);
  result = out.DeQue<half>();
  DataCopyPad(target, result, copy);
  out.FreeTensor(result);
}
