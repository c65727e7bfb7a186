// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;
// Mean of rows of 2048 floats, four of a tile: WholeReduceSum of all repeats, and again of their sums.
extern "C" __global__ __aicore__ void row_mean(GM_ADDR x, GM_ADDR y, uint32_t rows) {
  TPipe pipe;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> b;
  pipe.InitBuffer(in, 2, 4 * 2048 * 4);
  pipe.InitBuffer(out, 2, 32);
  pipe.InitBuffer(b, 1024);
  GlobalTensor<float> gx, gy;
  gx.SetGlobalBuffer((__gm__ float*)x);
  gy.SetGlobalBuffer((__gm__ float*)y);
  const uint32_t per = rows / GetBlockNum(), first = GetBlockIdx() * per;
  for (uint32_t r = first; r < first + per; r += 4) {
    LocalTensor<float> t = in.AllocTensor<float>();
    DataCopy(t, gx[r * 2048], 4 * 2048);
    in.EnQue(t);
    t = in.DeQue<float>();
    LocalTensor<float> s = b.Get<float>();
    LocalTensor<float> o = out.AllocTensor<float>();
    WholeReduceSum(s, t, 64, 128, 1, 1, 8);
    WholeReduceSum(o, s, 32, 4, 1, 1, 4);
    in.FreeTensor(t);
    Muls(o, o, 1.0f / 2048, 4);
    out.EnQue(o);
    o = out.DeQue<float>();
    DataCopyPad(gy[r], o, DataCopyExtParams{1, 16, 0, 0, 0});
    out.FreeTensor(o);
  }
}
