// SPDX-License-Identifier: Apache-2.0
// y[i] = x[i] * 3 for every tensor of a list. The list is read by its layout: distance to the addresses, then rank and dims of each.
#include "kernel_operator.h"

using namespace AscendC;

struct ListScaleTilingData {
  uint32_t count;
};

__aicore__ inline __gm__ float* AddressOf(GM_ADDR list, uint32_t index) {
  auto words = reinterpret_cast<__gm__ uint64_t*>(list);
  return reinterpret_cast<__gm__ float*>(words[words[0] / sizeof(uint64_t) + index]);
}

extern "C" __global__ __aicore__ void list_scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                 GM_ADDR tiling) {
  GET_TILING_DATA_WITH_STRUCT(ListScaleTilingData, data, tiling);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 8192);
  LocalTensor<float> value = buffer.Get<float>();
  auto entry = reinterpret_cast<__gm__ uint64_t*>(x) + 1;
  for (uint32_t i = 0; i < data.count; ++i) {
    const uint32_t rank = entry[0] & 0xffffffff;
    ASSERT(entry[0] >> 32 == i);
    uint32_t size = 1;
    for (uint32_t d = 0; d < rank; ++d) {
      size *= entry[1 + d];
    }
    entry += 1 + rank;
    GlobalTensor<float> source, target;
    source.SetGlobalBuffer(AddressOf(x, i), size);
    target.SetGlobalBuffer(AddressOf(y, i), size);
    const DataCopyExtParams bytes{1, static_cast<uint32_t>(size * sizeof(float)), 0, 0, 0};
    DataCopyPad(value, source, bytes, DataCopyPadExtParams<float>{false, 0, 0, 0});
    PipeBarrier<PIPE_ALL>();
    Muls(value, value, 3.0f, size);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(target, value, bytes);
    PipeBarrier<PIPE_ALL>();
  }
}
