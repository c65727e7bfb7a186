// SPDX-License-Identifier: Apache-2.0
// Kernels that write each element of z once: by tiles, by rows, by scalars; and sums of what nobody has cleared.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

template <HardEvent kEvent>
__aicore__ inline void Order() {
  SetFlag<kEvent>(EVENT_ID0);
  WaitFlag<kEvent>(EVENT_ID0);
}

// z = x + y by tiles of T; the cores have equal parts but for the last.
template <typename T, uint64_t kFault>
class Tiles {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t last = static_cast<uint32_t>(GetBlockNum()) - 1;
    const uint32_t total = PICK(end_forgotten, t.total, t.total - 16u);
    const uint32_t begin = core * t.perCore;
    uint32_t end = Least(total, begin + PICK(gap_in_split, t.perCore, t.perCore - 32u));
    EDIT(last_core_idle, , end = core == last ? begin : end);
    pipe_.InitBuffer(inQueue_, 2, 2 * t.tile * sizeof(T));
    pipe_.InitBuffer(outQueue_, 2, t.tile * sizeof(T));
    for (uint32_t at = begin; at < end; at += t.tile) {
      const uint32_t count = Least(t.tile, end - at);
      EDIT(tail_dropped, , if (count < t.tile) { break; });
      LocalTensor<T> in = inQueue_.template AllocTensor<T>();
      DataCopyPad(in, Global<T>(x)[at], Bytes<T>(count), {false, 0, 0, T(0)});
      DataCopyPad(in[t.tile], Global<T>(y)[at], Bytes<T>(count), {false, 0, 0, T(0)});
      inQueue_.EnQue(in);
      in = inQueue_.template DeQue<T>();
      LocalTensor<T> out = outQueue_.template AllocTensor<T>();
      Add(out, in, in[t.tile], static_cast<int32_t>(count));
      inQueue_.FreeTensor(in);
      outQueue_.EnQue(out);
      out = outQueue_.template DeQue<T>();
      const GlobalTensor<T> to = Global<T>(z)[at];
      if constexpr (kFault == Id("remainder_dropped")) {
        DataCopy(to, out, count / (32 / sizeof(T)) * (32 / sizeof(T)));  // @store_whole_blocks
      } else if constexpr (kFault == Id("half_the_bytes")) {
        DataCopyPad(to, out, DataCopyExtParams(1, count * sizeof(T) / 2 / sizeof(T) * sizeof(T), 0, 0, 0));  // @store_half
      } else if constexpr (kFault != Id("nothing_stored")) {
        DataCopyPad(to, out, Bytes<T>(count));  // @store_tile
      }
      outQueue_.FreeTensor(out);
    }
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

template <uint64_t kFault> class TilesOfFloat : public Tiles<float, kFault> {};
template <uint64_t kFault> class TilesOfHalf : public Tiles<half, kFault> {};

KERNEL(TilesOfFloat, none)
KERNEL(TilesOfFloat, end_forgotten)
KERNEL(TilesOfFloat, gap_in_split)
KERNEL(TilesOfFloat, last_core_idle)
KERNEL(TilesOfFloat, tail_dropped)
KERNEL(TilesOfFloat, remainder_dropped)
KERNEL(TilesOfFloat, half_the_bytes)
KERNEL(TilesOfFloat, nothing_stored)  // @nothing_stored
KERNEL(TilesOfHalf, none)
KERNEL(TilesOfHalf, end_forgotten)
KERNEL(TilesOfHalf, gap_in_split)
KERNEL(TilesOfHalf, remainder_dropped)
KERNEL(TilesOfHalf, half_the_bytes)

// Rows of x into the left half and rows of y into the right half of the rows of z, by whole blocks; then core 0 counts the rows by
// scalars behind them.
template <uint64_t kFault>
class Beside {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const uint32_t rows = t.rows / cores;
    const uint16_t blocks = static_cast<uint16_t>(t.columns / kFloatsPerBlock);
    const uint16_t copied = static_cast<uint16_t>(PICK(row_forgotten, rows, rows - 1u));
    pipe_.InitBuffer(buffer_, rows * t.columns * sizeof(float));
    const LocalTensor<float> tile = buffer_.template Get<float>();
    const GlobalTensor<float> to = Global<float>(z)[core * rows * 2 * t.columns];
    DataCopy(tile, Global<float>(x)[core * rows * t.columns], rows * t.columns);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(to, tile, DataCopyParams(copied, blocks, 0, blocks));  // @store_left
    if constexpr (kFault != Id("right_forgotten")) {
      Order<HardEvent::MTE3_MTE2>();
      DataCopy(tile, Global<float>(y)[core * rows * t.columns], rows * t.columns);
      Order<HardEvent::MTE2_MTE3>();
      DataCopy(to[t.columns], tile, DataCopyParams(static_cast<uint16_t>(rows), PICK(block_short, blocks, static_cast<uint16_t>(blocks - 1)), PICK(block_short, 0, 1), PICK(block_short, blocks, static_cast<uint16_t>(blocks + 1))));  // @store_right
    }
    if (core + 1 == cores) {
      GlobalTensor<float> count = Global<float>(z)[t.rows * 2 * t.columns];
      for (uint32_t i = 0; i < PICK(scalar_forgotten, t.rows, t.rows - 1u); ++i) {
        count.SetValue(i, static_cast<float>(i));  // @count_row
      }
      DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(count);
    }
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Beside, none)
KERNEL(Beside, row_forgotten)
KERNEL(Beside, right_forgotten)
KERNEL(Beside, block_short)
KERNEL(Beside, scalar_forgotten)

// The cores add their parts of x to a total in the workspace; each then brings its part of the total to z.
template <uint64_t kFault>
class Totals {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR workspace, const Tiling& t) {
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const uint32_t part = t.columns / cores;
    const GlobalTensor<float> total = Global<float>(workspace);
    pipe_.InitBuffer(buffer_, t.columns * sizeof(float));
    const LocalTensor<float> row = buffer_.template Get<float>();
    if constexpr (kFault != Id("not_cleared")) {
      Duplicate(row, 0.0F, static_cast<int32_t>(part));
      Order<HardEvent::V_MTE3>();
      DataCopy(total[core * part], row, PICK(cleared_in_part, part, part / 2));  // @clear_total
      Order<HardEvent::MTE3_MTE2>();
      SyncAll();
    }
    DataCopy(row, Global<float>(x)[core * t.columns], t.columns);
    Order<HardEvent::MTE2_MTE3>();
    SetAtomicAdd<float>();
    DataCopy(total, row, t.columns);  // @add_to_total
    SetAtomicNone();
    SyncAll();
    Order<HardEvent::MTE3_MTE2>();
    DataCopy(row, total[core * part], part);  // @fetch_total
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(Global<float>(z)[core * part], row, part);  // @store_total
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_;
};

KERNEL(Totals, none)
KERNEL(Totals, not_cleared)
KERNEL(Totals, cleared_in_part)

// The sum of x, whose length is no whole number of blocks.
template <uint64_t kFault>
class PaddedSum {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t rounded = RoundUp(t.total, kFloatsPerBlock);
    pipe_.InitBuffer(buffer_, rounded * sizeof(float));
    pipe_.InitBuffer(result_, 32);
    pipe_.InitBuffer(work_, rounded * sizeof(float));
    const LocalTensor<float> in = buffer_.template Get<float>();
    const LocalTensor<float> out = result_.template Get<float>();
    const bool filled = PICK(dummies_added, true, false);
    const uint8_t more = PICK(dummies_added, static_cast<uint8_t>(rounded - t.total), 0);
    DataCopyPad(in, Global<float>(x), Bytes<float>(t.total), {filled, 0, more, 0.0F});  // @load_padded
    Order<HardEvent::MTE2_V>();
    Duplicate(out, 0.0F, kFloatsPerBlock);
    PipeBarrier<PIPE_V>();
    ReduceSum(out, in, work_.template Get<float>(), static_cast<int32_t>(rounded));
    Order<HardEvent::V_MTE3>();
    DataCopyPad(Global<float>(z), out, Bytes<float>(1));  // @store_sum
  }

 private:
  TPipe pipe_;
  TBuf<TPosition::VECCALC> buffer_, result_, work_;
};

KERNEL(PaddedSum, none)
KERNEL(PaddedSum, dummies_added)
