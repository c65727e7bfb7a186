// SPDX-License-Identifier: Apache-2.0
// MIX kernels: an AIC hands numbers to its AIVs through the workspace, which hand theirs back. Right as they stand, and with one
// mistake each: what test_mix.py expects. Tiling key 11 runs one AIV for each AIC, 12 two, 10 the AIC alone, 1 an AIV alone.
#include "kernel_operator.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {4, 11, 1, 1, 12, 1, 2, 10, 1, 0, 1, 0, 1};

namespace {

using namespace AscendC;

enum Fault {
  kNone,
  kNoSet,
  kNoWait,
  kNoAnswer,
  kOneAnswer,
  kEarlyReturn,
  kAicReturns,
  kReserved,
  kReservedBehind,
  kId16,
  kMode1,
  kMode4,
  kSetBeforeWrite,
  kSetByOtherPipe,
  kAnswerBeforeWrite,
  kReadBeforeWait,
};

constexpr uint32_t kElements = 256;  // that an AIC hands to each AIV
constexpr uint16_t kThere = 3, kBack = 4;

template <Fault fault>
__aicore__ void Aic(const GlobalTensor<int32_t>& in, const GlobalTensor<int32_t>& there,
                    const GlobalTensor<int32_t>& back, const GlobalTensor<int32_t>& out,
                    uint32_t elements) {
  LocalTensor<int32_t> l1(TPosition::A1, 0, elements);
  DataCopy(l1, in, elements);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  if constexpr (fault == kSetBeforeWrite) {
    CrossCoreSetFlag<2, PIPE_MTE3>(kThere);
  }
  DataCopy(there, l1, elements);
  if constexpr (fault == kAicReturns) {
    return;
  }
  if constexpr (fault == kSetByOtherPipe) {
    CrossCoreSetFlag<2, PIPE_MTE2>(kThere);
  } else if constexpr (fault == kId16) {
    CrossCoreSetFlag<2, PIPE_MTE3>(16);
  } else if constexpr (fault == kMode4) {
    CrossCoreSetFlag<4, PIPE_MTE3>(kThere);
  } else if constexpr (fault == kReserved || fault == kReservedBehind) {
    CrossCoreSetFlag<2, PIPE_MTE3>(12);
  } else if constexpr (fault == kNone) {
    NotifyEvent<PIPE_MTE3>(kThere);  // by their older names
  } else if constexpr (fault != kNoSet && fault != kSetBeforeWrite) {
    CrossCoreSetFlag<2, PIPE_MTE3>(kThere);
  }
  LocalTensor<int32_t> again(TPosition::A1, elements * sizeof(int32_t), elements);
  CrossCoreWaitFlag(kBack);
  DataCopy(again, back, elements);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
  DataCopy(out, again, elements);
}

template <Fault fault>
__aicore__ void Aiv(const GlobalTensor<int32_t>& there, const GlobalTensor<int32_t>& back) {
  LocalTensor<int32_t> from(TPosition::VECCALC, 0, kElements);
  LocalTensor<int32_t> to(TPosition::VECCALC, kElements * sizeof(int32_t), kElements);
  if constexpr (fault == kEarlyReturn) {
    if (GetSubBlockIdx() == 1) {
      return;
    }
  }
  const uint32_t at = GetSubBlockIdx() * kElements;
  if constexpr (fault == kReadBeforeWait) {
    DataCopy(from, there[at], kElements);
  }
  if constexpr (fault == kReserved || fault == kReservedBehind) {
    CrossCoreWaitFlag(12);
  } else if constexpr (fault == kNone) {
    WaitEvent<PIPE_S>(kThere);
  } else if constexpr (fault != kNoWait) {
    CrossCoreWaitFlag(kThere);
  }
  if constexpr (fault != kReadBeforeWait) {
    DataCopy(from, there[at], kElements);
  }
  SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
  Adds(to, from, 1, kElements);
  SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
  if constexpr (fault == kAnswerBeforeWrite) {
    CrossCoreSetFlag<2, PIPE_V>(kBack);
  }
  DataCopy(back[at], to, kElements);
  if constexpr (fault == kMode1) {
    CrossCoreSetFlag<1, PIPE_MTE3>(kBack);
  } else if constexpr (fault == kOneAnswer) {
    if (GetSubBlockIdx() == 0) {
      CrossCoreSetFlag<2, PIPE_MTE3>(kBack);
    }
  } else if constexpr (fault != kNoAnswer && fault != kAnswerBeforeWrite) {
    CrossCoreSetFlag<2, PIPE_MTE3>(kBack);
  }
}

// Of each AI core: its numbers, one more each. AIVs of it take their part.
template <Fault fault>
__aicore__ void Exchange(GM_ADDR in, GM_ADDR workspace, GM_ADDR out) {
  const auto core = static_cast<uint32_t>(get_block_idx());
  const auto vectors = static_cast<uint32_t>(TILING_KEY_VAR % 10);
  const uint32_t elements = kElements * vectors;
  const uint64_t all = uint64_t{elements} * GetBlockNum();
  GlobalTensor<int32_t> from, there, back, to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(in), all);
  there.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(workspace), all);
  back.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(workspace) + all, all);
  to.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out), all);
  const uint32_t at = core * elements;
  if constexpr (fault == kReservedBehind) {
    SyncAll<false>();
  }
  if ASCEND_IS_AIC {
    Aic<fault>(from[at], there[at], back[at], to[at], elements);
  }
  if ASCEND_IS_AIV {
    Aiv<fault>(there[at], back[at]);
  }
  if constexpr (fault == kReserved) {
    SyncAll<false>();
  }
}

}  // namespace

#define KERNEL(name, fault)                                                                \
  extern "C" __global__ __aicore__ void name(GM_ADDR in, GM_ADDR workspace, GM_ADDR out) { \
    Exchange<fault>(in, workspace, out);                                                   \
  }
KERNEL(right, kNone)
KERNEL(no_set, kNoSet)
KERNEL(no_wait, kNoWait)
KERNEL(no_answer, kNoAnswer)
KERNEL(one_answer, kOneAnswer)
KERNEL(early_return, kEarlyReturn)
KERNEL(aic_returns, kAicReturns)
KERNEL(reserved, kReserved)
KERNEL(reserved_behind, kReservedBehind)
KERNEL(id_16, kId16)
KERNEL(mode_1, kMode1)
KERNEL(mode_4, kMode4)
KERNEL(set_before_write, kSetBeforeWrite)
KERNEL(set_by_other_pipe, kSetByOtherPipe)
KERNEL(answer_before_write, kAnswerBeforeWrite)
KERNEL(read_before_wait, kReadBeforeWait)

// What each core knows of its place: six words for each AIC, and for each AIV behind those.
extern "C" __global__ __aicore__ void places(GM_ADDR out) {
  const auto blocks = static_cast<int64_t>(GetBlockNum());
  const int64_t at = g_coreType == AIC ? GetBlockIdx() : blocks + GetBlockIdx();
  const int64_t words[] = {GetBlockIdx(),    GetBlockNum(),   GetSubBlockIdx(),
                           GetSubBlockNum(), GetTaskRation(), block_idx};
  for (int64_t i = 0; i < 8; ++i) {
    reinterpret_cast<__gm__ int64_t*>(out)[at * 8 + i] = i < 6 ? words[i] : g_coreType;
  }
}

// A word of each core: all cores of the other kind have written theirs when it reads them.
template <bool both>
__aicore__ void Meet(GM_ADDR words, GM_ADDR out) {
  const auto blocks = static_cast<int64_t>(GetBlockNum());
  const int64_t vectors = TILING_KEY_VAR % 10;
  const bool cube = g_coreType == AIC;
  const int64_t at = cube ? GetBlockIdx() : blocks + GetBlockIdx();
  // Words lie a cache line apart.
  GlobalTensor<int64_t> all, result;
  all.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(words));
  result.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(out));
  all.SetValue(at * 8, at + 1);
  DataCacheCleanAndInvalid<int64_t, CacheLine::SINGLE_CACHE_LINE>(all[at * 8]);
  if (both || !cube) {
    SyncAll<!both>();
  }
  const int64_t first = both || cube ? 0 : blocks;
  const int64_t end = !both && cube ? 0 : blocks * (1 + vectors);
  int64_t sum = 0;
  for (int64_t i = first; i < end; ++i) {
    sum += all.GetValue(i * 8);
  }
  result.SetValue(at * 8, sum);
  DataCacheCleanAndInvalid<int64_t, CacheLine::SINGLE_CACHE_LINE>(result[at * 8]);
}
extern "C" __global__ __aicore__ void meet_all(GM_ADDR words, GM_ADDR out) {
  Meet<true>(words, out);
}
extern "C" __global__ __aicore__ void meet_vectors(GM_ADDR words, GM_ADDR out) {
  Meet<false>(words, out);
}

// The AIC sets a flag so many times; its AIVs answer every so many, or never (0).
extern "C" __global__ __aicore__ void counts(GM_ADDR numbers) {
  const auto* number = reinterpret_cast<__gm__ int32_t*>(numbers);
  const int32_t times = number[0], every = number[1];
  if ASCEND_IS_AIC {
    for (int32_t i = 1; i <= times; ++i) {
      CrossCoreSetFlag<2, PIPE_FIX>(5);
      if (every > 0 && i % every == 0) {
        CrossCoreWaitFlag(6);
      }
    }
  }
  if ASCEND_IS_AIV {
    for (int32_t i = 1; i <= times; ++i) {
      CrossCoreWaitFlag(5);
      if (every > 0 && i % every == 0) {
        CrossCoreSetFlag<2, PIPE_MTE2>(6);
      }
    }
  }
}

// AIVs write to GM, and read it behind the answer of their AIC, which has waited for the copies: answered. early: the answer is set
// before that wait, and tells nothing of them. otherPipe: the AIC hears of the vector pipe alone.
template <bool answered, bool early, bool otherPipe>
__aicore__ void Again(GM_ADDR words, GM_ADDR out) {
  GlobalTensor<int32_t> all, result;
  all.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(words));
  result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  if ASCEND_IS_AIC {
    if constexpr (early) {
      CrossCoreSetFlag<2, PIPE_MTE2>(kThere);
    }
    CrossCoreWaitFlag(kBack);
    if constexpr (answered) {
      CrossCoreSetFlag<2, PIPE_MTE2>(kThere);
    }
  }
  if ASCEND_IS_AIV {
    LocalTensor<int32_t> x(TPosition::VECCALC, 0, 64), y(TPosition::VECCALC, 256, 64);
    const auto at = static_cast<uint32_t>(GetBlockIdx()) * 64;
    Duplicate(x, static_cast<int32_t>(GetBlockIdx()) + 1, 64);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(all[at], x, 64);
    if constexpr (otherPipe) {
      CrossCoreSetFlag<2, PIPE_V>(kBack);
    } else {
      CrossCoreSetFlag<2, PIPE_MTE3>(kBack);
    }
    CrossCoreWaitFlag(kThere);
    DataCopy(y, all[at], 64);  // by MTE2, which knows of MTE3 by the answer alone
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID1);
    DataCopy(result[at], y, 64);
  }
}
extern "C" __global__ __aicore__ void again(GM_ADDR words, GM_ADDR out) {
  Again<true, false, false>(words, out);
}
extern "C" __global__ __aicore__ void again_early(GM_ADDR words, GM_ADDR out) {
  Again<false, true, false>(words, out);
}
extern "C" __global__ __aicore__ void again_other_pipe(GM_ADDR words, GM_ADDR out) {
  Again<true, false, true>(words, out);
}

// Mode 1: the AIVs of an AI core read what the other one has written.
extern "C" __global__ __aicore__ void peers(GM_ADDR words, GM_ADDR out) {
  if ASCEND_IS_AIV {
    GlobalTensor<int32_t> all, result;
    all.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(words));
    result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
    LocalTensor<int32_t> mine(TPosition::VECCALC, 0, 64), other(TPosition::VECCALC, 256, 64);
    Duplicate(mine, static_cast<int32_t>(GetBlockIdx()) + 1, 64);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(all[GetBlockIdx() * 64], mine, 64);
    CrossCoreSetFlag<1, PIPE_MTE3>(7);
    CrossCoreWaitFlag(7);
    DataCopy(other, all[(GetBlockIdx() ^ 1) * 64], 64);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(result[GetBlockIdx() * 64], other, 64);
  }
}

// Mode 0: all AICs have set a flag before one goes on, and so have all AIVs.
extern "C" __global__ __aicore__ void kinds(GM_ADDR words, GM_ADDR out) {
  GlobalTensor<int32_t> all, result;
  all.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(words));
  result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
  if ASCEND_IS_AIV {
    const uint32_t cores = GetBlockNum() * GetSubBlockNum();
    LocalTensor<int32_t> mine(TPosition::VECCALC, 0, 64), other(TPosition::VECCALC, 256, 64);
    Duplicate(mine, static_cast<int32_t>(GetBlockIdx()) + 1, 64);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(all[GetBlockIdx() * 64], mine, 64);
    CrossCoreSetFlag<0, PIPE_MTE3>(8);
    CrossCoreWaitFlag(8);
    DataCopy(other, all[(GetBlockIdx() + 1) % cores * 64], 64);
    SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
    DataCopy(result[GetBlockIdx() * 64], other, 64);
  }
  if ASCEND_IS_AIC {
    CrossCoreSetFlag<0, PIPE_FIX>(8);
    CrossCoreWaitFlag(8);
  }
}

// Mistakes of AIVs are found as in a vector kernel, and of AICs as in a cube kernel.
extern "C" __global__ __aicore__ void no_order_on_aiv(GM_ADDR out) {
  if ASCEND_IS_AIV {
    GlobalTensor<int32_t> result;
    result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
    LocalTensor<int32_t> mine(TPosition::VECCALC, 0, 64);
    Duplicate(mine, 1, 64);
    DataCopy(result[GetBlockIdx() * 64], mine, 64);
  }
}
extern "C" __global__ __aicore__ void no_order_on_aic(GM_ADDR in, GM_ADDR out) {
  if ASCEND_IS_AIC {
    GlobalTensor<int32_t> from, result;
    from.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(in));
    result.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out));
    LocalTensor<int32_t> mine(TPosition::A1, 0, 64);
    DataCopy(mine, from[GetBlockIdx() * 64], 64);
    DataCopy(result[GetBlockIdx() * 64], mine, 64);
  }
}

// AIVs use flag 5 with modes 1 and 2, in an order that the word tells.
extern "C" __global__ __aicore__ void two_modes(GM_ADDR told) {
  const int32_t way = *reinterpret_cast<__gm__ int32_t*>(told);
  if ASCEND_IS_AIC {
    CrossCoreWaitFlag(5);
    CrossCoreSetFlag<2, PIPE_MTE2>(6);
    return;
  }
  const bool isPeersFirst = way < 2, isSettled = way % 2 == 1;
  if (isPeersFirst) {
    CrossCoreSetFlag<1, PIPE_MTE3>(5);
    if (isSettled) {
      CrossCoreWaitFlag(5);
    }
    CrossCoreSetFlag<2, PIPE_MTE3>(5);
    if (!isSettled) {
      CrossCoreWaitFlag(5);
    }
    CrossCoreWaitFlag(6);
  } else {
    CrossCoreSetFlag<2, PIPE_MTE3>(5);
    if (isSettled) {
      CrossCoreWaitFlag(6);
    }
    CrossCoreSetFlag<1, PIPE_MTE3>(5);
    CrossCoreWaitFlag(5);
    if (!isSettled) {
      CrossCoreWaitFlag(6);
    }
  }
}
