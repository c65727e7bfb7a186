// SPDX-License-Identifier: Apache-2.0
// y = x held between two limits, row by row; copy = x. The tiling struct comes from op_host's field list.
#include "kernel_operator.h"

using namespace AscendC;

template <bool wide>
__aicore__ inline void Clip(GM_ADDR x, GM_ADDR y, GM_ADDR copy, const ClipRowsTilingData& data) {
  const uint32_t columns = data.sizes[1];
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, (columns + 7) / 8 * 32);
  LocalTensor<float> row = buffer.Get<float>();
  for (int64_t r = GetBlockIdx(); r < data.rows; r += GetBlockNum()) {
    GlobalTensor<float> source, target, second;
    source.SetGlobalBuffer((__gm__ float*)x + r * columns, columns);
    target.SetGlobalBuffer((__gm__ float*)y + r * columns, columns);
    second.SetGlobalBuffer((__gm__ float*)copy + r * columns, columns);
    const DataCopyExtParams bytes{1, static_cast<uint32_t>(columns * sizeof(float)), 0, 0, 0};
    DataCopyPad(row, source, bytes, DataCopyPadExtParams<float>{false, 0, 0, 0});
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(second, row, bytes);
    PipeBarrier<PIPE_ALL>();
    Maxs(row, row, data.limits.low, columns);
    PipeBarrier<PIPE_V>();
    Mins(row, row, data.limits.high, columns);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(target, row, bytes);
    PipeBarrier<PIPE_ALL>();
  }
}

extern "C" __global__ __aicore__ void clip_rows(GM_ADDR x, GM_ADDR y, GM_ADDR copy,
                                                GM_ADDR workspace, GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  ASSERT(data.flag == 7 && data.sizes[2] == 3);
  if (TILING_KEY_IS(1)) {
    Clip<false>(x, y, copy, data);
  } else if (TILING_KEY_IS(2)) {
    Clip<true>(x, y, copy, data);
  }
}
