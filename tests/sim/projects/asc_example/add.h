// SPDX-License-Identifier: Apache-2.0
// A kernel template, and a launch that a header has.
#pragma once
#include <utility>

#include "kernel_operator.h"

struct Range {
  uint32_t begin;
  uint32_t count;
};

// y = x + step, where Types is only there to have commas and nested angle brackets.
template <typename T, typename Types, int kRounds = 1>
__global__ __aicore__ void AddStep(__gm__ uint8_t* x, __gm__ uint8_t* y, Range range, float step) {
  static_assert(std::is_same_v<Types, std::pair<int, std::pair<T, T>>>);
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, range.count * sizeof(T));
  AscendC::LocalTensor<T> values = buffer.Get<T>();
  AscendC::GlobalTensor<T> source;
  AscendC::GlobalTensor<T> target;
  const uint32_t begin =
      range.begin + static_cast<uint32_t>(AscendC::GetBlockIdx()) * range.count;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x) + begin, range.count);
  target.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y) + begin, range.count);
  AscendC::DataCopy(values, source, range.count);
#if SCENARIO_NUM != 2
  AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
  AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
#endif
  for (int i = 0; i < kRounds; ++i) {
    AscendC::Adds(values, values, static_cast<T>(step), range.count);
  }
  AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
  AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
  AscendC::DataCopy(target, values, range.count);
}

template <typename T>
void LaunchFromHeader(uint32_t blocks, void* stream, uint8_t* x, uint8_t* y, Range range) {
  AddStep<T, std::pair<int, std::pair<T, T>>><<<blocks, nullptr, stream>>>(x, y, range, 1.0f);
}
