// SPDX-License-Identifier: Apache-2.0
// What the kernels of the probes share. Each has the parameters (in, out, params): GM, and 16 numbers of int32_t. The last one says
// whether the counter is read; what it has counted goes behind them.
#pragma once

#include "kernel_operator.h"

// A row of an .inc file in a switch over the rows' numbers: the call, where the type has `width`.
#define PROBE(number, name, widths, ...)     \
  case number:                               \
    if constexpr (((widths) & width) != 0) { \
      __VA_ARGS__;                           \
    }                                        \
    break;

namespace probe {

constexpr uint32_t kParams = 16;
constexpr uint32_t kRepeatBytes = 256;

__aicore__ inline int32_t Param(GM_ADDR params, uint32_t index) {
  AscendC::GlobalTensor<int32_t> numbers;
  numbers.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(params), kParams);
  return numbers.GetValue(index);
}

// Ticks of the core's counter around what a kernel asks: nothing of the launch is in them.
class Ticks {
 public:
  __aicore__ inline Ticks(AscendC::TPipe& pipe, GM_ADDR params)
      : params_(params), counts_(Param(params, kParams - 1) != 0) {
    if (counts_) {
      pipe.InitBuffer(buffer_, kBytes);
    }
  }

  __aicore__ inline void Begin() {
    if (counts_) {
      begin_ = Now();
    }
  }

  // The mark counts only what the scalar pipe has done by now.
  __aicore__ inline void Mark() {
    if (counts_) {
      end_ = Counter();
    }
  }

  __aicore__ inline void End() {
    if (!counts_) {
      return;
    }
    const int64_t ticks = (end_ != 0 ? end_ : Now()) - begin_;
    AscendC::LocalTensor<int32_t> ub = buffer_.Get<int32_t>();
    AscendC::Duplicate(ub, 0, kBytes / 4);
    AscendC::PipeBarrier<PIPE_ALL>();
    ub.SetValue(0, static_cast<int32_t>(ticks));
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::GlobalTensor<int32_t> behind;
    behind.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(params_) + kParams, kBytes / 4);
    AscendC::DataCopy(behind, ub, kBytes / 4);
  }

 private:
  static constexpr uint32_t kBytes = 32;

  static __aicore__ inline int64_t Now() {
    AscendC::PipeBarrier<PIPE_ALL>();
    return Counter();
  }

  static __aicore__ inline int64_t Counter() {
#if defined(__NPU_ARCH__) && (__NPU_ARCH__ == 1001 || __NPU_ARCH__ == 2002)  // have none
    return 0;
#else
    return AscendC::GetSystemCycle();
#endif
  }

  GM_ADDR params_;
  bool counts_;
  int64_t begin_ = 0, end_ = 0;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer_;
};

template <typename T>
constexpr uint32_t kLanes = kRepeatBytes / sizeof(T);

// TransDataTo5HD of so many repeats; the 16 rows lie in bank groups of their own.
template <typename T>
__aicore__ inline void Transposed(const AscendC::LocalTensor<T>& d,
                                  const AscendC::LocalTensor<T>& a, uint8_t repeats) {
  constexpr uint32_t kBlock = 32;
  const uint32_t row = (static_cast<uint32_t>(repeats) + 1) * kBlock / sizeof(T);
  uint64_t to[16], from[16];
  for (uint32_t i = 0; i < 16; ++i) {
    to[i] = reinterpret_cast<uint64_t>(d[i * row].GetPhyAddr());
    from[i] = reinterpret_cast<uint64_t>(a[i * row].GetPhyAddr());
  }
  const uint16_t step = repeats > 1 ? 1 : 0;
  AscendC::TransDataTo5HD<T>(to, from, {false, false, repeats, step, step});
}

// MrgSort of so many repeats, each of four queues that follow each other.
template <typename T>
__aicore__ inline void Merged(const AscendC::LocalTensor<T>& d, const AscendC::LocalTensor<T>& a,
                              uint8_t repeats) {
  constexpr uint16_t kQueue = 8;
  constexpr uint32_t kStep = kRepeatBytes / 4 / sizeof(T);
  const uint16_t lengths[4] = {kQueue, kQueue, kQueue, kQueue};
  AscendC::MrgSort<T>(d, {a, a[kStep], a[2 * kStep], a[3 * kStep]}, {lengths, false, 15, repeats});
}

}  // namespace probe
