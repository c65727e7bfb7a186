// SPDX-License-Identifier: Apache-2.0
// Copies of Ascend 950: of several dimensions, and DataCopyPad in loops.
#include "bench.h"

using namespace AscendC;

namespace {

template <uint8_t dim>
void Copy(const Call& c, Areas& areas, GM_ADDR from) {
  MultiCopyLoopInfo<dim> loops;
  // Elements, lowest dimension first: sizes, then source strides, then destination strides.
  const uint64_t sizes[3] = {static_cast<uint64_t>(c.extra[0]), static_cast<uint64_t>(c.extra[1]),
                             static_cast<uint64_t>(c.extra[2])};
  const uint64_t src[3] = {static_cast<uint64_t>(c.blk[0]), static_cast<uint64_t>(c.blk[1]),
                           static_cast<uint64_t>(c.blk[2])};
  const uint64_t dst[3] = {static_cast<uint64_t>(c.rep[0]), static_cast<uint64_t>(c.rep[1]),
                           static_cast<uint64_t>(c.rep[2])};
  for (uint8_t i = 0; i < dim; ++i) {
    loops.loopSize[i] = static_cast<uint32_t>(sizes[i]);
    loops.loopSrcStride[i] = src[i];
    loops.loopDstStride[i] = static_cast<uint32_t>(dst[i]);
  }
  const MultiCopyParams<float, dim> params = {loops, 0};
  DataCopy(areas.Area<float>(0), Global<float>(from), params);
}

}  // namespace

extern "C" __global__ __aicore__ void nd_copy(GM_ADDR dst, GM_ADDR a, GM_ADDR b, GM_ADDR call) {
  const Call c = ReadCall(call);
  Areas areas(dst, a, b);
  c.op == 1 ? Copy<1>(c, areas, a) : c.op == 2 ? Copy<2>(c, areas, a) : Copy<3>(c, areas, a);
  areas.Finish();
}

// Rows of DataCopyPad, again and again. extra: loop sizes; blk and rep: strides of bytes.
extern "C" __global__ __aicore__ void pad_loops(GM_ADDR dst, GM_ADDR a, GM_ADDR b, GM_ADDR call) {
  const Call c = ReadCall(call);
  const LoopModeParams loops(static_cast<uint32_t>(c.extra[0]), static_cast<uint32_t>(c.extra[1]),
                             static_cast<uint64_t>(c.blk[0]), static_cast<uint64_t>(c.rep[0]),
                             static_cast<uint64_t>(c.blk[1]), static_cast<uint64_t>(c.rep[1]));
  const DataCopyExtParams rows(2, 40, 8, 0, 0);
  if (c.op == 0) {
    Areas areas(dst, a, b);
    SetLoopModePara(loops, DataCopyMVType::OUT_TO_UB);
    DataCopyPad(areas.Area<uint8_t>(0), Global<uint8_t>(a), rows,
                DataCopyPadExtParams<uint8_t>(true, 0, 0, 0));
    ResetLoopModePara(DataCopyMVType::OUT_TO_UB);
    areas.Finish();
    return;
  }
  Areas areas(b, a, b);
  SetLoopModePara(loops, DataCopyMVType::UB_TO_OUT);
  DataCopyPad<uint8_t, PaddingMode::Normal>(Global<uint8_t>(dst), areas.Area<uint8_t>(1),
                                            DataCopyExtParams(2, 40, 1, 8, 0));
  ResetLoopModePara(DataCopyMVType::UB_TO_OUT);
  PipeBarrier<PIPE_ALL>();
}
