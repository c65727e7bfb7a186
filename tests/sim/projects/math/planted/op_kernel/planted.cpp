// SPDX-License-Identifier: Apache-2.0
// y = x + 1, with one fault or none.
#include "kernel_operator.h"

using namespace AscendC;

enum class Fault { kNone, kWrong, kRace, kBounds, kElse };

constexpr uint32_t kElements = 64;

template <Fault fault>
__global__ __aicore__ void planted(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  constexpr uint32_t kRead = fault == Fault::kBounds ? kElements + 8 : kElements;
  GlobalTensor<float> source, target;
  source.SetGlobalBuffer((__gm__ float*)x, kRead);
  target.SetGlobalBuffer((__gm__ float*)y, kElements);
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kRead * sizeof(float));
  LocalTensor<float> value = buffer.Get<float>();
  DataCopy(value, source, kRead);
  if constexpr (fault != Fault::kRace) {
    PipeBarrier<PIPE_ALL>();
  }
  Adds(value, value, fault == Fault::kWrong ? 2.0f : 1.0f, kElements);
  PipeBarrier<PIPE_ALL>();
  DataCopy(target, value, kElements);
}

// A plain else belongs to no key.
template <bool plainElse>
__global__ __aicore__ void planted_keys(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
  if (TILING_KEY_IS(1)) {
    planted<Fault::kWrong>(x, y, workspace);
  } else if constexpr (plainElse) {
    planted<Fault::kNone>(x, y, workspace);
  }
}
