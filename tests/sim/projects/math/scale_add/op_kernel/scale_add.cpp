// SPDX-License-Identifier: Apache-2.0
// y = x * scale (+ bias), the scaling done once or twice: a kernel template with one instance per tiling key.
#include "kernel_operator.h"
#include "scale_add_tiling_data.h"
#include "scale_add_tiling_key.h"

using namespace AscendC;

template <uint32_t repeat, bool hasBias, typename T>
__global__ __aicore__ void scale_add(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR workspace,
                                     GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ScaleAddTilingData);
  GET_TILING_DATA_WITH_STRUCT(ScaleAddTilingData, data, tiling);
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in;
  TQue<QuePosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, data.tile * sizeof(T));
  pipe.InitBuffer(out, 1, data.tile * sizeof(T));
  GlobalTensor<T> source, other, target;
  source.SetGlobalBuffer((__gm__ T*)x, data.total);
  target.SetGlobalBuffer((__gm__ T*)y, data.total);
  if constexpr (hasBias) {
    other.SetGlobalBuffer((__gm__ T*)bias, data.total);
  }
  for (uint32_t at = 0; at < data.total; at += data.tile) {
    const uint32_t count = at + data.tile < data.total ? data.tile : data.total - at;
    const DataCopyExtParams copy{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> pad{false, 0, 0, 0};
    LocalTensor<T> value = in.AllocTensor<T>();
    DataCopyPad(value, source[at], copy, pad);
    in.EnQue(value);
    value = in.DeQue<T>();
    LocalTensor<T> result = out.AllocTensor<T>();
    Muls(result, value, static_cast<T>(data.scale), count);
    if constexpr (repeat == SCALE_ADD_TWICE) {
      PipeBarrier<PIPE_V>();
      Muls(result, result, static_cast<T>(data.scale), count);
    }
    in.FreeTensor(value);
    if constexpr (hasBias) {
      LocalTensor<T> add = in.AllocTensor<T>();
      DataCopyPad(add, other[at], copy, pad);
      in.EnQue(add);
      add = in.DeQue<T>();
      PipeBarrier<PIPE_V>();
      Add(result, result, add, count);
      in.FreeTensor(add);
    }
    out.EnQue(result);
    result = out.DeQue<T>();
    DataCopyPad(target[at], result, copy);
    out.FreeTensor(result);
  }
}
