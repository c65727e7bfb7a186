// SPDX-License-Identifier: Apache-2.0
// Kernels whose cores work together through GM: partial sums by copies, by scalar writes, by atomic additions, with SyncAll
// between or with flags between cores.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

constexpr uint32_t kLineBytes = 64;

template <HardEvent kEvent>
__aicore__ inline void Order() {
  SetFlag<kEvent>(EVENT_ID0);
  WaitFlag<kEvent>(EVENT_ID0);
}

__aicore__ inline void Clean(const GlobalTensor<float>& line) {
  DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(line);
}

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
    outQueue_.FreeTensor(out);  // @free_part
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
      EDIT(not_atomic, SetAtomicAdd<float>(), );  // @switch_on
      DataCopyPad(Global<float>(z), out, Bytes<float>(t.columns));  // @add
      EDIT(left_on, SetAtomicNone(), );
      outQueue_.FreeTensor(out);
    }
    EDIT(maximum_left_on, , SetAtomicMax<float>());  // @switch_on_at_the_end
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

KERNEL(AtomicSum, none)
KERNEL(AtomicSum, left_on)
KERNEL(AtomicSum, maximum_left_on)
KERNEL(AtomicSum, not_cleared)
KERNEL(AtomicSum, clear_not_awaited)
KERNEL(AtomicSum, not_atomic)

// Round by round, the sum over all cores of their tiles of x into a block of z. While a core waits for the others, it loads its
// next tile; slots of the workspace alternate, so that nobody writes one that others may still read.
template <uint64_t kFault>
class Rounds {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    core_ = static_cast<uint32_t>(GetBlockIdx());
    cores_ = static_cast<uint32_t>(GetBlockNum());
    pipe_.InitBuffer(inQueue_, 2, t.tile * sizeof(float));
    pipe_.InitBuffer(partQueue_, 2, 32);
    pipe_.InitBuffer(allQueue_, 2, cores_ * 32);
    pipe_.InitBuffer(outQueue_, 2, 32);
    pipe_.InitBuffer(work_, 256);
    Load(Global<float>(x)[core_ * t.tile], t.tile);
    for (uint32_t r = 0; r < t.rows; ++r) {
      const GlobalTensor<float> slots = Global<float>(workspace)[PICK(slots_not_alternating, r % 2, 0u) * cores_ * kFloatsPerBlock];
      LocalTensor<float> in = inQueue_.template DeQue<float>();
      LocalTensor<float> part = partQueue_.template AllocTensor<float>();
      Sum(part, in, t.tile);
      inQueue_.FreeTensor(in);
      partQueue_.EnQue(part);
      part = partQueue_.template DeQue<float>();
      DataCopy(slots[core_ * kFloatsPerBlock], part, kFloatsPerBlock);  // @tell
      partQueue_.FreeTensor(part);
      EDIT(set_on_vector, (CrossCoreSetFlag<0, PIPE_MTE3>(3)), (CrossCoreSetFlag<0, PIPE_V>(3)));
      if (r + 1 < t.rows) {
        Load(Global<float>(x)[((r + 1) * cores_ + core_) * t.tile], t.tile);
      }
      EDIT(gather_before_wait, , Gather(slots));  // @gather_early
      if (PICK(never_waits, true, false) && PICK(last_wait_left_out, true, r + 1 < t.rows)) {
        CrossCoreWaitFlag(3);
      }
      EDIT(gather_before_wait, Gather(slots), );  // @gather
      LocalTensor<float> all = allQueue_.template DeQue<float>();
      LocalTensor<float> out = outQueue_.template AllocTensor<float>();
      Sum(out, all, cores_ * kFloatsPerBlock);
      allQueue_.FreeTensor(all);
      outQueue_.EnQue(out);
      out = outQueue_.template DeQue<float>();
      DataCopy(Global<float>(z)[(r * cores_ + core_) * kFloatsPerBlock], out, kFloatsPerBlock);
      outQueue_.FreeTensor(out);
    }
  }

 private:
  __aicore__ inline void Load(const GlobalTensor<float>& tile, uint32_t count) {
    LocalTensor<float> in = inQueue_.template AllocTensor<float>();
    DataCopy(in, tile, count);
    inQueue_.EnQue(in);
  }
  __aicore__ inline void Gather(const GlobalTensor<float>& slots) {
    LocalTensor<float> all = allQueue_.template AllocTensor<float>();
    DataCopy(all, slots, cores_ * kFloatsPerBlock);  // @copy_all
    allQueue_.EnQue(all);
  }
  __aicore__ inline void Sum(const LocalTensor<float>& to, const LocalTensor<float>& from, uint32_t count) {
    Duplicate(to, 0.0F, kFloatsPerBlock);
    PipeBarrier<PIPE_V>();
    ReduceSum(to, from, work_.template Get<float>(), static_cast<int32_t>(count));
    PipeBarrier<PIPE_V>();
  }

  TPipe pipe_;
  TQue<TPosition::VECIN, 1> inQueue_, allQueue_;
  TQue<TPosition::VECOUT, 1> partQueue_, outQueue_;
  TBuf<TPosition::VECCALC> work_;
  uint32_t core_ = 0, cores_ = 0;
};

KERNEL(Rounds, none)
KERNEL(Rounds, set_on_vector)
KERNEL(Rounds, gather_before_wait)
KERNEL(Rounds, never_waits)
KERNEL(Rounds, last_wait_left_out)
KERNEL(Rounds, slots_not_alternating)

// Every core gets the number of the core two further on, plus 1: a scalar write to the next core, a copy from there to the one
// after. Flags are set by the vector pipe, which has waited for the copies.
template <uint64_t kFault>
class Relay {
 public:
  __aicore__ inline void Run(GM_ADDR, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling&) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const uint32_t next = (core + 1) % cores;
    constexpr uint32_t kLane = kLineBytes / sizeof(float);
    GlobalTensor<float> marks = Global<float>(workspace);
    const GlobalTensor<float> copies = marks[cores * kLane];
    pipe_.InitBuffer(buffer_, 64);
    const LocalTensor<float> in = buffer_.template Get<float>();
    const LocalTensor<float> out = in[kFloatsPerBlock];
    for (uint32_t i = 0; i < kFloatsPerBlock; ++i) {
      marks.SetValue(core * kLane + i, static_cast<float>(core));  // @mark
    }
    EDIT(cleaned_after_set, Clean(marks[core * kLane]), );
    CrossCoreSetFlag<0, PIPE_V>(1);
    EDIT(cleaned_after_set, , Clean(marks[core * kLane]));
    CrossCoreWaitFlag(1);
    DataCopy(in, marks[next * kLane], kFloatsPerBlock);  // @take
    Order<HardEvent::MTE2_V>();
    Adds(out, in, 1.0F, kFloatsPerBlock);
    Order<HardEvent::V_MTE3>();
    DataCopy(copies[core * kFloatsPerBlock], out, kFloatsPerBlock);  // @pass_on
    EDIT(copy_not_awaited, Order<HardEvent::MTE3_V>(), );
    CrossCoreSetFlag<0, PIPE_V>(2);
    CrossCoreWaitFlag(2);
    Order<HardEvent::V_MTE2>();
    DataCopy(in, copies[next * kFloatsPerBlock], kFloatsPerBlock);  // @take_copy
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(Global<float>(z)[core * kFloatsPerBlock], in, kFloatsPerBlock);
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Relay, none)
KERNEL(Relay, cleaned_after_set)
KERNEL(Relay, copy_not_awaited)

// Round by round, the sum over all cores of a number of theirs, by scalars. Lines of the data cache that the round before last has
// left are dropped before the core waits for the others; nothing uses them until then.
template <uint64_t kFault>
class Tally {
 public:
  __aicore__ inline void Run(GM_ADDR, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    constexpr uint32_t kLane = kLineBytes / sizeof(float);
    pipe_.InitBuffer(buffer_, 64);
    const LocalTensor<float> mine = buffer_.template Get<float>();
    const LocalTensor<float> out = mine[kFloatsPerBlock];
    for (uint32_t r = 0; r < t.rows; ++r) {
      const GlobalTensor<float> slots = Global<float>(workspace)[r % 2 * cores * kLane];
      const float number = static_cast<float>(10 * core + r);
      Duplicate(mine, number, kFloatsPerBlock);
      Order<HardEvent::V_MTE3>();
      Order<HardEvent::S_MTE3>();
      DataCopy(slots[core * kLane], mine, kFloatsPerBlock);  // @publish_number
      CrossCoreSetFlag<0, PIPE_MTE3>(5);
      const uint32_t cleaned = PICK(never_cleaned, PICK(first_line_cleaned, cores, 1u), 0u);
      for (uint32_t i = 0; i < cleaned; ++i) {
        Clean(slots[PICK(own_line_cleaned, i, core) * kLane]);
      }
      CrossCoreWaitFlag(5);
      float sum = number;
      for (uint32_t i = 0; i < cores; ++i) {
        if (i != core) { sum += slots.GetValue(i * kLane); }  // @read_number
      }
      Duplicate(out, sum, kFloatsPerBlock);
      Order<HardEvent::V_MTE3>();
      DataCopy(Global<float>(z)[(r * cores + core) * kFloatsPerBlock], out, kFloatsPerBlock);
      Order<HardEvent::MTE3_V>();
    }
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Tally, none)
KERNEL(Tally, never_cleaned)
KERNEL(Tally, first_line_cleaned)
KERNEL(Tally, own_line_cleaned)

// Every core has two lines of numbers in the workspace that it writes by scalars, and reads those of the next core. A line that
// others write again is dropped as soon as it was read; the first line's numbers are only read when they are final. The token behind
// is written by the cores in turns, into lines of older content; each reads back what it has written itself.
template <uint64_t kFault>
class Board {
 public:
  __aicore__ inline void Run(GM_ADDR, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    constexpr uint32_t kLane = kLineBytes / sizeof(float);
    GlobalTensor<float> mine = Global<float>(workspace)[2 * core * kLane];
    const GlobalTensor<float> next = Global<float>(workspace)[2 * ((core + 1) % cores) * kLane];
    GlobalTensor<float> token = Global<float>(workspace)[2 * cores * kLane];
    float sum = 0;
    for (uint32_t r = 0; r < t.rows; ++r) {
      for (uint32_t i = 0; i < 2 * kLane; ++i) {
        mine.SetValue(i, static_cast<float>(core + r));  // @post
      }
      Clean(mine);
      Clean(mine[kLane]);
      if (core == r % cores) {
        token.SetValue(0, static_cast<float>(r));  // @pass_token
        sum += token.GetValue(0);
        Clean(token);
      }
      SyncAll();
      sum += next.GetValue(kLane);  // @look
      EDIT(not_dropped, Clean(next[kLane]), );
      if (PICK(token_kept, r, 0u) == 0) {
        sum += token.GetValue(0);  // @look_at_token
      }
      SyncAll();
    }
    sum += next.GetValue(0);
    SyncAll();
    sum += next.GetValue(1);
    pipe_.InitBuffer(buffer_, 32);
    const LocalTensor<float> out = buffer_.template Get<float>();
    Duplicate(out, sum, kFloatsPerBlock);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(Global<float>(z)[core * kFloatsPerBlock], out, kFloatsPerBlock);
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Board, none)
KERNEL(Board, not_dropped)
KERNEL(Board, token_kept)

// Passes a number of the core through the workspace by copies, again and again, and adds a constant that stays behind it on the same
// line of the data cache. A line that was loaded after the copy serves until the next one.
template <uint64_t kFault>
class Carry {
  // ReadGmByPassDCache has integers only.
  static __aicore__ inline float ReadFloat(__gm__ float* from) {
    const int32_t bits = ReadGmByPassDCache(reinterpret_cast<__gm__ int32_t*>(from));
    float number;
    __builtin_memcpy(&number, &bits, sizeof(number));
    return number;
  }

 public:
  __aicore__ inline void Run(GM_ADDR, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    constexpr uint32_t kLane = kLineBytes / sizeof(float);
    const GlobalTensor<float> line = Global<float>(workspace)[core * kLane];
    pipe_.InitBuffer(buffer_, kLineBytes);
    const LocalTensor<float> numbers = buffer_.template Get<float>();
    Duplicate(numbers, static_cast<float>(core + 1), kLane);
    Order<HardEvent::V_MTE3>();
    DataCopy(line, numbers, kLane);
    Order<HardEvent::MTE3_S>();
    float constant = 0.0F;
    EDIT(not_past_the_cache, constant = ReadFloat(line.GetPhyAddr(kFloatsPerBlock)), constant = line.GetValue(kFloatsPerBlock));  // @read_constant
    float number = constant;
    for (uint32_t r = 0; r < t.rows; ++r) {
      Order<HardEvent::MTE3_V>();
      Order<HardEvent::S_V>();
      Duplicate(numbers, 2.0F * number, kFloatsPerBlock);
      Order<HardEvent::V_MTE3>();
      Order<HardEvent::S_MTE3>();
      DataCopy(line, numbers, kFloatsPerBlock);  // @keep_number
      EDIT(loaded_meanwhile, , constant = line.GetValue(kFloatsPerBlock));  // @load_meanwhile
      Order<HardEvent::MTE3_S>();
      number = line.GetValue(0) + constant;  // @read_back
      DataCopy(Global<float>(z)[core * kFloatsPerBlock], numbers, kFloatsPerBlock);
      Order<HardEvent::MTE3_S>();
      number += line.GetValue(1);
      EDIT(not_dropped, (DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(line)), );
    }
    Order<HardEvent::MTE3_V>();
    Order<HardEvent::S_V>();
    Duplicate(numbers, number, kFloatsPerBlock);
    Order<HardEvent::V_MTE3>();
    DataCopy(Global<float>(z)[core * kFloatsPerBlock], numbers, kFloatsPerBlock);
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Carry, none)
KERNEL(Carry, not_dropped)
KERNEL(Carry, not_past_the_cache)
KERNEL(Carry, loaded_meanwhile)
