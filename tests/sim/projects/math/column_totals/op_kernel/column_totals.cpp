// SPDX-License-Identifier: Apache-2.0
// y += scale * the sum of the rows of x; what y holds before is InitValue.
#include "kernel_operator.h"

using namespace AscendC;

__aicore__ inline float ScaleOf(const ColumnTotalsTilingData&) { return 1; }
__aicore__ inline float ScaleOf(const ColumnTotalsScaledTilingData& data) { return data.scale; }

__aicore__ inline void Add(GM_ADDR x, GM_ADDR y, int64_t rows, uint32_t columns, float scale) {
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x, rows * columns);
  target.SetGlobalBuffer((__gm__ float*)y, columns);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, columns * sizeof(float));
  LocalTensor<float> row = buffer.Get<float>();
  for (int64_t r = GetBlockIdx(); r < rows; r += GetBlockNum()) {
    DataCopy(row, source[r * columns], columns);
    PipeBarrier<PIPE_ALL>();
    Muls(row, row, scale, columns);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(target, row, columns);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
  }
}

extern "C" __global__ __aicore__ void column_totals(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                    GM_ADDR tiling) {
  GET_TILING_DATA(data, tiling);
  if constexpr (TILING_KEY_IS(1)) {
    Add(x, y, data.rows, data.columns, ScaleOf(data));
  } else if constexpr (TILING_KEY_IS(7)) {
    Add(x, y, data.rows, data.columns, ScaleOf(data));
  }
}

// What a program of its own would call.
void column_totals_do(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* y, uint8_t* workspace,
                      uint8_t* tiling) {
  column_totals<<<blockDim, nullptr, stream>>>(x, y, workspace, tiling);
}
