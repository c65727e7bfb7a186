// SPDX-License-Identifier: Apache-2.0
// Times of vector instructions. params: number of instructions.inc, 32 or 16, repeats, how often, whether each waits for the
// one before, and three distances: bytes by which b lies behind the start of its bank, d likewise, lanes less than all; short
// instructions behind each; blocks from repeat to repeat of b.
#include <type_traits>

#include "probe.h"

namespace probe {

using namespace AscendC;

constexpr uint32_t kBank = 65536;

template <typename T, int width>
__aicore__ inline void Run(GM_ADDR params) {
  const int32_t number = Param(params, 0);
  const uint8_t repeats = static_cast<uint8_t>(Param(params, 2));
  const int32_t times = Param(params, 3);
  const bool waits = Param(params, 4) != 0;
  const uint32_t behindB = static_cast<uint32_t>(Param(params, 5));
  const uint32_t behindD = static_cast<uint32_t>(Param(params, 6));
  const uint64_t n = kLanes<T> - static_cast<uint64_t>(Param(params, 7));
  const int32_t brief = Param(params, 8);
  const uint8_t apartB = static_cast<uint8_t>(Param(params, 9));
  TPipe pipe;
  TBuf<TPosition::VECCALC> whole;
  constexpr uint32_t kBytes = 180 * 1024;
  pipe.InitBuffer(whole, kBytes);
  Ticks ticks(pipe, params);
  LocalTensor<T> all = whole.Get<T>();
  Duplicate(all, static_cast<T>(1.0f), static_cast<int32_t>(kBytes / sizeof(T)));
  PipeBarrier<PIPE_ALL>();
  LocalTensor<T> d = all[behindD / sizeof(T)];
  LocalTensor<T> a = all[kBank / sizeof(T)];
  LocalTensor<T> b = all[(2 * kBank + behindB) / sizeof(T)];
  LocalTensor<half> narrow = d.template ReinterpretCast<half>();
  LocalTensor<uint8_t> bits = all[40960 / sizeof(T)].template ReinterpretCast<uint8_t>();
  using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  LocalTensor<Word> wordsD = d.template ReinterpretCast<Word>();
  LocalTensor<Word> wordsA = a.template ReinterpretCast<Word>();
  LocalTensor<float> wide = d.template ReinterpretCast<float>();
  LocalTensor<uint16_t> bitsD = d.template ReinterpretCast<uint16_t>();
  LocalTensor<uint16_t> bitsA = a.template ReinterpretCast<uint16_t>();
  LocalTensor<uint16_t> bitsB = b.template ReinterpretCast<uint16_t>();
  LocalTensor<uint32_t> offsets =
      all[(2 * kBank + 512) / sizeof(T)].template ReinterpretCast<uint32_t>();
  LocalTensor<uint32_t> indices = offsets;
  if (number == 37 || number == 38) {  // addresses within a
    Duplicate(offsets, uint32_t(0), static_cast<int32_t>(36 * 1024 / 4));
    PipeBarrier<PIPE_ALL>();
  }
  const T one = static_cast<T>(1.0f);
  const BinaryRepeatParams three{1, 1, 1, 8, 8, apartB};
  const UnaryRepeatParams two{1, 1, 8, 8};
  uint64_t kept = 0;
  LocalTensor<T> shortD = all[45056 / sizeof(T)];
  LocalTensor<T> shortA = all[(kBank + 45056) / sizeof(T)];
  ticks.Begin();
  for (int32_t i = 0; i < times; ++i) {
    switch (number) {
#include "instructions.inc"
      default:
        break;
    }
    for (int32_t j = 0; j < brief; ++j) {
      Adds(shortD[j * static_cast<int32_t>(kLanes<T>)], shortA, one, kLanes<T>, 1, two);
    }
    if (waits) {
      PipeBarrier<PIPE_V>();
    }
    if (brief > 0) {
      PipeBarrier<PIPE_ALL>();
    }
  }
  ticks.End();
}

}  // namespace probe

extern "C" __global__ __aicore__ void probe_vector(GM_ADDR in, GM_ADDR out, GM_ADDR params) {
  if (probe::Param(params, 1) == 32) {
    probe::Run<float, 32>(params);
  } else {
    probe::Run<half, 16>(params);
  }
}
