// SPDX-License-Identifier: Apache-2.0
// Rows: sums and maxima of half rows that are padded to whole blocks, a threshold by Compare and Select, conversions; and the
// rules of single instructions.
// clang-format off: an edit stays on one line, next to the label of the line that its report names.
#include "corpus.h"

using namespace corpus;

// Per row of x (half): its sum in the first `rows` elements of z, then its maximum.
template <uint64_t kFault>
class RowStats {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t pitch = RoundUp(t.columns, 16);
    const uint32_t rows = t.rows;
    const uint8_t pad = static_cast<uint8_t>(pitch - t.columns);
    pipe_.InitBuffer(inQueue_, 1, rows * pitch * sizeof(half));
    pipe_.InitBuffer(lanes_, rows * pitch * sizeof(float));
    pipe_.InitBuffer(work_, PICK(work_too_small, 4096u, 32u));
    pipe_.InitBuffer(outQueue_, 1, RoundUp(2 * rows, kFloatsPerBlock) * sizeof(float));
    LocalTensor<half> in = inQueue_.template AllocTensor<half>();
    const DataCopyExtParams shape(static_cast<uint16_t>(rows), t.columns * sizeof(half), 0, 0, 0);
    EDIT(padding_undefined, DataCopyPad(in, Global<half>(x), shape, {true, 0, pad, half(0)}), DataCopyPad(in, Global<half>(x), shape, {false, 0, pad, half(0)}));  // @load
    inQueue_.EnQue(in);
    in = inQueue_.template DeQue<half>();
    const LocalTensor<float> lanes = lanes_.template Get<float>();
    const LocalTensor<float> work = work_.template Get<float>();
    EDIT(cast_in_place, Cast(lanes, in, RoundMode::CAST_NONE, rows * pitch), Cast(in.template ReinterpretCast<float>(), in, RoundMode::CAST_NONE, rows * pitch / 2));  // @widen
    EDIT(cast_mode_absent, , Cast(in, lanes, RoundMode::CAST_NONE, rows * pitch); Cast(in.template ReinterpretCast<bfloat16_t>(), lanes, RoundMode::CAST_NONE, 16));  // @narrow
    EDIT(cast_pair_absent, , Cast(in.template ReinterpretCast<int8_t>(), lanes, RoundMode::CAST_RINT, 16));  // @narrow_to_bytes
    PipeBarrier<PIPE_V>();
    LocalTensor<float> out = outQueue_.template AllocTensor<float>();
    for (uint32_t r = 0; r < rows; ++r) {
      EDIT(row_by_columns, , Adds(lanes[r * t.columns], lanes[r * t.columns], 0.0F, t.columns));  // @touch_row
      EDIT(sum_misses_rows, ReduceSum(out[r], lanes[r * pitch], work, static_cast<int32_t>(pitch)), if (r + 1 < rows) ReduceSum(out[r], lanes[r * pitch], work, static_cast<int32_t>(pitch)));  // @sum
      PipeBarrier<PIPE_V>();
      // The maximum and its index take a pair of elements, which the scratch of the next row replaces.
      EDIT(pair_misaligned, , ReduceMax(out[2 * r + 1], lanes[r * pitch], work, 64, 1, 8, true));  // @max_pair
      ReduceMax(work[512], lanes[r * pitch], work, static_cast<int32_t>(t.columns), true);  // @max
      PipeBarrier<PIPE_V>();
      EDIT(scratch_read, Copy(out[rows + r], work[512]), Copy(out[rows + r], work));  // @keep_max
    }
    EDIT(repeat_beyond_255, , WholeReduceSum(out, lanes, 8, 256, 0, 1, 0));  // @whole_reduce
    EDIT(stride_negative, , WholeReduceSum(out, lanes[64], 8, 2, 1, 1, -8));  // @whole_reduce_back
    EDIT(stride_zero, , Adds(lanes, lanes, 0.0F, 64, 1, {0, 1, 8, 8}));  // @adds_in_one_block
    EDIT(mask_reads_beyond, , Adds(lanes[rows * pitch - 64 + 8], lanes, 0.0F, 64, 1, {1, 1, 8, 8}));  // @adds_at_the_end
    EDIT(gap_counts_blocks, , DataCopy(lanes, lanes, DataCopyParams(2, 1, 4096, 0)));  // @copy_with_gap
    EDIT(brcb_misaligned, , Brcb(lanes, out[1], 1, {1, 8}));  // @brcb
    inQueue_.FreeTensor(in);
    outQueue_.EnQue(out);
    out = outQueue_.template DeQue<float>();
    DataCopyPad(Global<float>(z), out, Bytes<float>(2 * rows));  // @store
    outQueue_.FreeTensor(out);
  }

 private:
  // One element, by the scalar pipe.
  __aicore__ inline void Copy(const LocalTensor<float>& to, const LocalTensor<float>& from) {
    to.SetValue(0, from.GetValue(0));  // @by_scalar
  }

  TPipe pipe_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
  TBuf<TPosition::VECCALC> lanes_, work_;
};

KERNEL(RowStats, none)
KERNEL(RowStats, work_too_small)
KERNEL(RowStats, padding_undefined)
KERNEL(RowStats, cast_in_place)
KERNEL(RowStats, cast_mode_absent)
KERNEL(RowStats, cast_pair_absent)
KERNEL(RowStats, row_by_columns)
KERNEL(RowStats, sum_misses_rows)
KERNEL(RowStats, pair_misaligned)
KERNEL(RowStats, scratch_read)
KERNEL(RowStats, repeat_beyond_255)
KERNEL(RowStats, stride_negative)
KERNEL(RowStats, stride_zero)
KERNEL(RowStats, mask_reads_beyond)
KERNEL(RowStats, gap_counts_blocks)
KERNEL(RowStats, brcb_misaligned)

// z = x > 0 ? y : 0, the backward step of Relu.
template <uint64_t kFault>
class Gate {
 public:
  __aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR, const Tiling& t) {
    const uint32_t room = RoundUp(t.tile, 64);
    pipe_.InitBuffer(xQueue_, 1, room * sizeof(float));
    pipe_.InitBuffer(yQueue_, 1, room * sizeof(float));
    pipe_.InitBuffer(zQueue_, 1, room * sizeof(float));
    pipe_.InitBuffer(bits_, PICK(bits_too_short, RoundUp(room / 8, 32), 32u));
    pipe_.InitBuffer(rest_, 1024u);
    const LocalTensor<uint8_t> bits = bits_.template Get<uint8_t>();
    for (uint32_t at = 0; at < t.total; at += t.tile) {
      const uint32_t count = Least(t.tile, t.total - at);
      LocalTensor<float> x_ = xQueue_.template AllocTensor<float>();
      LocalTensor<float> y_ = yQueue_.template AllocTensor<float>();
      DataCopyPad(x_, Global<float>(x)[at], Bytes<float>(count), {false, 0, 0, 0.0F});
      DataCopyPad(y_, Global<float>(y)[at], Bytes<float>(count), {false, 0, 0, 0.0F});
      xQueue_.EnQue(x_);
      yQueue_.EnQue(y_);
      x_ = xQueue_.template DeQue<float>();
      y_ = yQueue_.template DeQue<float>();
      LocalTensor<float> z_ = zQueue_.template AllocTensor<float>();
      // Compare works on whole repeats.
      CompareScalar(bits, x_, 0.0F, CMPMODE::GT, PICK(compare_not_whole, RoundUp(count, 64), count));  // @compare
      EDIT(remainder, , CompareScalar(rest_.template Get<uint8_t>(), x_, 0.0F, CMPMODE::GT, count / 64 * 64 + 6));  // @compare_more
      EDIT(compare_of_ints, , Compare(bits, x_.template ReinterpretCast<int32_t>(), y_.template ReinterpretCast<int32_t>(), CMPMODE::GT, 64));  // @compare_ints
      PipeBarrier<PIPE_V>();
      EDIT(select_misaligned_bits, Select(z_, bits, y_, 0.0F, SELMODE::VSEL_TENSOR_SCALAR_MODE, count), Select(z_, bits[8], y_, 0.0F, SELMODE::VSEL_TENSOR_SCALAR_MODE, count));  // @select
      xQueue_.FreeTensor(x_);
      yQueue_.FreeTensor(y_);
      zQueue_.EnQue(z_);
      z_ = zQueue_.template DeQue<float>();
      DataCopyPad(Global<float>(z)[at], z_, Bytes<float>(count));  // @store_gate
      zQueue_.FreeTensor(z_);
    }
  }

 private:
  TPipe pipe_;
  TQue<TPosition::VECIN, 1> xQueue_, yQueue_;
  TQue<TPosition::VECOUT, 1> zQueue_;
  TBuf<TPosition::VECCALC> bits_, rest_;
};

KERNEL(Gate, none)
KERNEL(Gate, bits_too_short)
KERNEL(Gate, compare_not_whole)
KERNEL(Gate, compare_of_ints)
KERNEL(Gate, remainder)
KERNEL(Gate, select_misaligned_bits)
