// SPDX-License-Identifier: Apache-2.0
// Kernels whose cores wait for each other by words of GM: soft SyncAll, IBSet and IBWait.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

template <HardEvent kEvent>
__aicore__ inline void Order() {
  SetFlag<kEvent>(EVENT_ID0);
  WaitFlag<kEvent>(EVENT_ID0);
}

// Every core publishes a number in the workspace, behind the words that it clears first, and brings those of all to z after they
// have met, in two rounds.
template <uint64_t kFault>
class SoftSync {
 public:
  __aicore__ inline void Run(GM_ADDR, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const GlobalTensor<int32_t> words = Global<int32_t>(workspace);
    const GlobalTensor<int32_t> numbers = words[cores * kFloatsPerBlock];
    pipe_.InitBuffer(wordsQueue_, 1, cores * 32);
    pipe_.InitBuffer(buffer_, cores * 32);
    const LocalTensor<int32_t> local = buffer_.template Get<int32_t>();
    Duplicate(local, 0, static_cast<int32_t>(cores * kFloatsPerBlock));
    Order<HardEvent::V_MTE3>();
    if constexpr (kFault == Id("own_words_only")) {
      DataCopy(words[core * kFloatsPerBlock], local, kFloatsPerBlock);  // @clear_own
    } else if constexpr (kFault == Id("first_core_only")) {
      if (core == 0) { DataCopy(words, local, cores * kFloatsPerBlock); }  // @clear_in_one
    } else if constexpr (kFault == Id("half_the_words")) {
      DataCopy(words, local, cores * kFloatsPerBlock / 2);
    } else if constexpr (kFault == Id("left_in_cache")) {
      for (uint32_t i = 0; i < cores * kFloatsPerBlock; ++i) {
        GlobalTensor<int32_t> word = words;
        word.SetValue(i, 0);  // @clear_by_scalars
      }
    } else if constexpr (kFault != Id("never_cleared")) {
      DataCopy(words, local, cores * kFloatsPerBlock);
    }
    for (uint32_t r = 0; r < t.rows; ++r) {
      Order<HardEvent::MTE3_V>();
      Duplicate(local, static_cast<int32_t>(core + r), kFloatsPerBlock);
      Order<HardEvent::V_MTE3>();
      DataCopy(numbers[(r * cores + core) * kFloatsPerBlock], local, kFloatsPerBlock);  // @tell_number
      if constexpr (kFault == Id("one_leaves")) {
        if (core == 2) {
          return;
        }
      }
      LocalTensor<int32_t> ub = wordsQueue_.template AllocTensor<int32_t>();
      if constexpr (kFault == Id("one_left_out")) {
        SyncAll(words, ub, static_cast<int32_t>(cores - 1));  // @sync_of_fewer
      } else if constexpr (kFault == Id("numbers_differ")) {
        SyncAll(words, ub, static_cast<int32_t>(core == 0 ? 1 : cores));  // @sync_of_some
      } else if constexpr (kFault == Id("one_does_not_come")) {
        if (core != 1) { SyncAll(words, ub, static_cast<int32_t>(cores)); }  // @sync_but_one
      } else {
        SyncAll(words, ub);  // @sync_by_words
      }
      wordsQueue_.FreeTensor(ub);
      DataCopy(local, numbers[r * cores * kFloatsPerBlock], cores * kFloatsPerBlock);
      Order<HardEvent::MTE2_MTE3>();
      DataCopy(Global<int32_t>(z)[(r * cores + core) * cores * kFloatsPerBlock], local, cores * kFloatsPerBlock);  // @store_numbers
    }
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> wordsQueue_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(SoftSync, none)
KERNEL(SoftSync, never_cleared)
KERNEL(SoftSync, own_words_only)
KERNEL(SoftSync, first_core_only)
KERNEL(SoftSync, half_the_words)
KERNEL(SoftSync, left_in_cache)
KERNEL(SoftSync, one_left_out)
KERNEL(SoftSync, numbers_differ)
KERNEL(SoftSync, one_leaves)
KERNEL(SoftSync, one_does_not_come)

// One core after the other adds its row of x to a total in the workspace; the last one brings it to z. The host has cleared the
// words, which are followed by words that it has not.
template <uint64_t kFault>
class Chain {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const int32_t core = static_cast<int32_t>(GetBlockIdx());
    const int32_t cores = static_cast<int32_t>(GetBlockNum());
    const uint32_t size = static_cast<uint32_t>(cores) * kFloatsPerBlock;
    const GlobalTensor<int32_t> words = Global<int32_t>(workspace)[PICK(words_not_cleared, 0u, size)];
    const GlobalTensor<float> total = Global<float>(workspace)[2 * size];
    pipe_.InitBuffer(buffer_, 2 * t.columns * sizeof(float));
    pipe_.InitBuffer(scratch_, 32);
    const LocalTensor<float> row = buffer_.template Get<float>();
    const LocalTensor<float> sum = row[t.columns];
    const LocalTensor<int32_t> ub = scratch_.template Get<int32_t>();
    DataCopy(row, Global<float>(x)[static_cast<uint32_t>(core) * t.columns], t.columns);
    if (core > 0 && PICK(wait_left_out, true, core != 2)) {
      IBWait(words, ub, core - 1, 0);  // @wait_before
    }
    if (core > 0) {
      DataCopy(sum, total, t.columns);  // @take_total
      Order<HardEvent::MTE2_V>();
      Add(sum, sum, row, static_cast<int32_t>(t.columns));
    } else {
      Order<HardEvent::MTE2_V>();
      Adds(sum, row, 0.0F, static_cast<int32_t>(t.columns));
    }
    Order<HardEvent::V_MTE3>();
    EDIT(set_too_early, , if (core + 1 < cores) { IBSet(words, ub, core, 0); });
    if (core + 1 < cores) {
      DataCopy(total, sum, t.columns);  // @hand_total_on
    } else {
      DataCopy(Global<float>(z), sum, t.columns);
    }
    EDIT(set_too_early, if (core + 1 < cores) { IBSet(words, ub, core, 0); }, );  // @set_after
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_, scratch_;
};

KERNEL(Chain, none)
KERNEL(Chain, wait_left_out)
KERNEL(Chain, set_too_early)
KERNEL(Chain, words_not_cleared)

// The cores add their rows of x to z atomically, each after the one before, so that the sum has one order. Core 0 clears z.
template <uint64_t kFault>
class InOrder {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const int32_t core = static_cast<int32_t>(GetBlockIdx());
    const int32_t cores = static_cast<int32_t>(GetBlockNum());
    const GlobalTensor<int32_t> words = Global<int32_t>(workspace);
    pipe_.InitBuffer(buffer_, t.columns * sizeof(float));
    pipe_.InitBuffer(scratch_, 32);
    const LocalTensor<float> row = buffer_.template Get<float>();
    const LocalTensor<int32_t> ub = scratch_.template Get<int32_t>();
    if (core == 0) {
      Duplicate(row, 0.0F, static_cast<int32_t>(t.columns));
      Order<HardEvent::V_MTE3>();
      DataCopy(Global<float>(z), row, t.columns);
      Order<HardEvent::MTE3_MTE2>();
    }
    SyncAll();
    DataCopy(row, Global<float>(x)[static_cast<uint32_t>(core) * t.columns], t.columns);
    if (core > 0 && PICK(wait_left_out, true, core != 3)) {
      IBWait(words, ub, core, 1);
    }
    Order<HardEvent::MTE2_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(Global<float>(z), row, t.columns);
    SetAtomicNone();
    if (PICK(set_without_wait, core + 1 < cores, true)) {
      IBSet(words, ub, (core + 1) % cores, 1);  // @set_next
    }
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_, scratch_;
};

KERNEL(InOrder, none)
KERNEL(InOrder, wait_left_out)
KERNEL(InOrder, set_without_wait)
