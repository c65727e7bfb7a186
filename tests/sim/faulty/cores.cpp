// SPDX-License-Identifier: Apache-2.0
// Kernels whose cores work together through GM: partial sums by copies, by scalar writes, by atomic additions, with SyncAll
// between.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

constexpr uint32_t kLineBytes = 64;

// Every core sums its part of x into the workspace; after SyncAll every core writes its part of z = y + the sum of all.
template <uint64_t kFault>
class GrandSum {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const uint32_t count = t.perCore;
    const GlobalTensor<float> part = Global<float>(x)[core * count];
    pipe_.InitBuffer(inQueue_, 2, count * sizeof(float));
    pipe_.InitBuffer(outQueue_, 2, count * sizeof(float));
    pipe_.InitBuffer(work_, 256);
    const LocalTensor<float> work = work_.template Get<float>();
    LocalTensor<float> in = inQueue_.template AllocTensor<float>();
    DataCopy(in, part, count);
    inQueue_.EnQue(in);
    in = inQueue_.template DeQue<float>();
    LocalTensor<float> sum = outQueue_.template AllocTensor<float>();
    Duplicate(sum, 0.0F, 8);
    PipeBarrier<PIPE_V>();
    ReduceSum(sum, in, work, static_cast<int32_t>(count));
    inQueue_.FreeTensor(in);
    outQueue_.EnQue(sum);
    sum = outQueue_.template DeQue<float>();
    EDIT(same_slot, DataCopy(Global<float>(workspace)[core * 8], sum, 8), DataCopy(Global<float>(workspace), sum, 8));  // @publish
    outQueue_.FreeTensor(sum);
    if constexpr (kFault == Id("last_core_left_out")) {
      if (core + 1 < cores) { SyncAll(); }  // @sync_some
    } else if constexpr (kFault == Id("sync_twice_in_one")) {
      SyncAll();
      if (core == 0) { SyncAll(); }  // @sync_more
    } else if constexpr (kFault != Id("no_syncall")) {
      SyncAll();
    }
    in = inQueue_.template AllocTensor<float>();
    DataCopy(in, Global<float>(workspace), cores * 8);  // @collect
    inQueue_.EnQue(in);
    in = inQueue_.template DeQue<float>();
    LocalTensor<float> out = outQueue_.template AllocTensor<float>();
    ReduceSum(out, in, work, static_cast<int32_t>(cores * 8));
    const float all = out.GetValue(0);
    inQueue_.FreeTensor(in);
    in = inQueue_.template AllocTensor<float>();
    DataCopy(in, Global<float>(y)[core * count], count);
    inQueue_.EnQue(in);
    in = inQueue_.template DeQue<float>();
    Adds(out, in, all, count);
    inQueue_.FreeTensor(in);
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<float>();
    EDIT(halves_swapped, DataCopy(Global<float>(z)[core * count], out, count), DataCopy(Global<float>(z)[core / 2 * count], out, count));  // @store_part
    outQueue_.FreeTensor(out);
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
  TBuf<TPosition::VECCALC> work_;
};

KERNEL(GrandSum, none)
KERNEL(GrandSum, same_slot)
KERNEL(GrandSum, last_core_left_out)
KERNEL(GrandSum, sync_twice_in_one)
KERNEL(GrandSum, no_syncall)
KERNEL(GrandSum, halves_swapped)

// Every core counts the elements of its part that are above zero, by scalars: z[core] in a line of its own each, then core 0
// adds the counts of all.
template <uint64_t kFault>
class Counts {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const uint32_t lane = PICK(lines_shared, kLineBytes / sizeof(float), 1u);
    GlobalTensor<float> slots = Global<float>(workspace);
    const GlobalTensor<float> part = Global<float>(x)[core * t.perCore];
    float count = 0;
    for (uint32_t i = 0; i < t.perCore; ++i) {
      count += part.GetValue(i) > 0.0F ? 1.0F : 0.0F;
    }
    slots.SetValue(core * lane, count);  // @count
    if constexpr (kFault != Id("never_cleaned")) {
      DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(slots[PICK(wrong_line_cleaned, core * lane, cores * lane)]);
    }
    if constexpr (kFault != Id("no_syncall")) {
      SyncAll();
    }
    if (core == 0) {
      float sum = 0;
      for (uint32_t i = 0; i < cores; ++i) {
        sum += slots.GetValue(i * lane);  // @add_counts
      }
      pipe_.InitBuffer(buffer_, 64);
      const LocalTensor<float> out = buffer_.template Get<float>();
      Duplicate(out, sum, 8);
      SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
      WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
      DataCopyPad(Global<float>(z), out, Bytes<float>(1));
      SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
      WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
      slots.SetValue(cores * lane, 2.0F * sum);  // @write_twice
      if constexpr (kFault != Id("copied_before_clean")) {
        DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(slots[cores * lane]);
      }
      SetFlag<HardEvent::S_MTE2>(EVENT_ID0);
      WaitFlag<HardEvent::S_MTE2>(EVENT_ID0);
      DataCopyPad(out[8], slots[cores * lane], Bytes<float>(1), {false, 0, 0, 0.0F});  // @copy_twice
      SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
      WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
      DataCopyPad(Global<float>(z)[1], out[8], Bytes<float>(1));
    }
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Counts, none)
KERNEL(Counts, lines_shared)
KERNEL(Counts, never_cleaned)
KERNEL(Counts, wrong_line_cleaned)
KERNEL(Counts, no_syncall)
KERNEL(Counts, copied_before_clean)

// Column sums of x into z: core 0 clears z, then every core adds its rows.
template <uint64_t kFault>
class AtomicSum {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    pipe_.InitBuffer(inQueue_, 2, t.columns * sizeof(float));
    pipe_.InitBuffer(outQueue_, 2, t.columns * sizeof(float));
    if (core == 0 && kFault != Id("not_cleared")) {
      LocalTensor<float> zeros = outQueue_.template AllocTensor<float>();
      Duplicate(zeros, 0.0F, static_cast<int32_t>(t.columns));
      outQueue_.EnQue(zeros);
      zeros = outQueue_.template DeQue<float>();
      DataCopyPad(Global<float>(z), zeros, Bytes<float>(t.columns));  // @clear
      outQueue_.FreeTensor(zeros);
    }
    if constexpr (kFault != Id("clear_not_awaited")) {
      SyncAll();
    }
    for (uint32_t r = 0; r < t.perCore; ++r) {
      LocalTensor<float> in = inQueue_.template AllocTensor<float>();
      DataCopyPad(in, Global<float>(x)[(core * t.perCore + r) * t.columns], Bytes<float>(t.columns), {false, 0, 0, 0.0F});  // @load_row
      inQueue_.EnQue(in);
      in = inQueue_.template DeQue<float>();
      LocalTensor<float> out = outQueue_.template AllocTensor<float>();
      Adds(out, in, 0.0F, static_cast<int32_t>(t.columns));
      inQueue_.FreeTensor(in);
      outQueue_.EnQue(out);
      out = outQueue_.template DeQue<float>();
      EDIT(not_atomic, SetAtomicAdd<float>(), );
      DataCopyPad(Global<float>(z), out, Bytes<float>(t.columns));  // @add
      SetAtomicNone();
      outQueue_.FreeTensor(out);
    }
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

KERNEL(AtomicSum, none)
KERNEL(AtomicSum, not_cleared)
KERNEL(AtomicSum, clear_not_awaited)
KERNEL(AtomicSum, not_atomic)
