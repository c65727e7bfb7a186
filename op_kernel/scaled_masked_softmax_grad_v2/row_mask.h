// SPDX-License-Identifier: Apache-2.0
// RowMask clears the elements of a result that a byte mask selects. Broadcasting is arithmetic on row numbers: mask rows are
// read where they lie in GM, and one that several rows of a tile share is read once.
//
//   mask bytes -- Cast --> halves -- CompareScalar --> bits -- Select --> the result, or +0 where the mask is not 0
//
// Halves and bits take the place of f and y of the tile, which nothing reads any more.
//
// Packed rows need mask bytes that lie as they do. Each run of mask rows is one piece of GM. Its first byte lies as far behind a
// block of UB as the element that it masks.
//
// UB: MaskUbOf of row_reduce_data.h.
#ifndef OP_KERNEL_SCALED_MASKED_SOFTMAX_GRAD_V2_ROW_MASK_H_
#define OP_KERNEL_SCALED_MASKED_SOFTMAX_GRAD_V2_ROW_MASK_H_

#include <type_traits>

#include "common/layout_packed.h"
#include "scaled_masked_softmax_grad_v2/scaled_masked_softmax_grad_v2_tiling.h"

namespace scaledmaskedsoftmaxgradv2 {

using AscendC::LocalTensor;
using AscendC::PipeBarrier;

// MaskRuns steps through the runs of a tile: rows that take consecutive mask rows, or all the same one.
class MaskRuns {
 public:
  __aicore__ inline MaskRuns(const RowMaskTilingData& t, int64_t row, uint32_t rows)
      : t_(t), row_(row), rows_(rows) {}

  uint32_t at = 0;       // first row of the run in the tile
  uint32_t rows = 0;     // rows of the run
  bool shared = false;   // all its rows take one mask row
  bool fresh = false;    // its mask rows are not in UB yet
  uint32_t slot = 0;     // the place of its first mask row in UB
  uint64_t maskRow = 0;  // the mask row of its first row

  __aicore__ inline bool Next() {
    at += rows;
    if (at == rows_) {
      return false;
    }
    const int64_t row = row_ + at;
    const int64_t inRun = row % t_.run;
    shared = t_.run == 1;
    const int64_t left = shared ? t_.period - row % t_.period : t_.run - inRun;
    rows = static_cast<uint32_t>(rowreduce::Min(left, rows_ - at));
    maskRow = static_cast<uint64_t>(row / t_.period * t_.step + inRun);
    fresh = !holds_ || maskRow != heldRow_;
    slot = fresh ? used_ : heldSlot_;
    if (fresh) {
      used_ += shared ? 1 : rows;
      // A run that starts with its first mask row is at least as long as those that repeat it in
      // this tile.
      if (inRun == 0) {
        holds_ = true;
        heldRow_ = maskRow;
        heldSlot_ = slot;
      }
    }
    return true;
  }

 private:
  const RowMaskTilingData& t_;
  const int64_t row_;
  const uint32_t rows_;
  uint32_t used_ = 0;  // mask rows in UB
  bool holds_ = false;
  uint64_t heldRow_ = 0;
  uint32_t heldSlot_ = 0;
};

template <bool kPacked>
class RowMask {
 public:
  // A row of halves starts on a block of 32 bytes.
  static constexpr uint32_t kRowLanes = 16;

  __aicore__ inline RowMask(AscendC::TPipe* pipe, GM_ADDR mask,
                            const ScaledMaskedSoftmaxGradV2TilingData& t)
      : t_(t.mask),
        length_(static_cast<uint32_t>(t.rows.reduce)),
        pitch_(rowreduce::WholeBlocks<uint8_t>(length_)) {
    gm_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(mask),
                        static_cast<uint64_t>(t.mask.rows) * length_);
    if (t.rows.inputsBypassL2 > 0 && t.mask.rows == t.rows.outer) {  // no mask row is read twice
      gm_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
    }
    const rowreduce::UbBuffer ub =
        rowreduce::MaskUbOf(rowreduce::TileShapeOf(t.rows, sizeof(uint8_t)), kPacked);
    pipe->InitBuffer(queue_, kBuffers, ub.bytes);
  }

  // Enqueues the mask of rows [row, row + rows); packed ones lie `lead` elements behind a block.
  __aicore__ inline void Load(int64_t row, uint32_t rows, uint32_t lead) {
    LocalTensor<uint8_t> in = queue_.AllocTensor<uint8_t>();
    MaskRuns runs(t_, row, rows);
    uint32_t at = 0;
    while (runs.Next()) {
      if constexpr (kPacked) {
        LoadRun(in, &at, runs, lead);
      } else if (runs.fresh) {
        rowreduce::CopyIn(in[runs.slot * pitch_], gm_, runs.maskRow * length_,
                          rowreduce::Rows{runs.shared ? 1 : runs.rows, length_, length_}, pitch_);
      }
    }
    queue_.EnQue(in);
  }

  // out = mask ? +0 : out for rows [row, row + rows), `lanes` elements apart. Overwrites halves and
  // bits, which take rows * lanes fp32 lanes each.
  template <typename T>
  __aicore__ inline void Clear(const LocalTensor<T>& out, uint32_t lanes, uint32_t lead,
                               int64_t row, uint32_t rows, const LocalTensor<float>& halves,
                               const LocalTensor<float>& bits) {
    const LocalTensor<half> wide = halves.ReinterpretCast<half>();
    const LocalTensor<uint8_t> keep = bits.ReinterpretCast<uint8_t>();
    LocalTensor<uint8_t> in = queue_.DeQue<uint8_t>();
    MaskRuns runs(t_, row, rows);
    uint32_t at = 0;
    while (runs.Next()) {
      if constexpr (kPacked) {
        WidenRun(wide, in, &at, runs, lead);
      } else {
        Widen(wide[runs.at * lanes], lanes, in[runs.slot * pitch_], runs.shared ? 0 : pitch_,
              runs.rows);
      }
    }
    PipeBarrier<PIPE_V>();
    queue_.FreeTensor(in);
    const uint32_t count = lead + rows * lanes;
    AscendC::CompareScalar(keep, wide, static_cast<half>(0), AscendC::CMPMODE::EQ,
                           rowreduce::AlignUp(count, kHalvesPerRepeat));
    PipeBarrier<PIPE_V>();
    if constexpr (std::is_same_v<T, float>) {
      AscendC::Select(out, keep, out, 0.0F, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
    } else {
      // Select moves bits and computes nothing, so that bf16 may pass for half.
      const LocalTensor<half> lanes16 = out.template ReinterpretCast<half>();
      AscendC::Select(lanes16, keep, lanes16, static_cast<half>(0),
                      AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, count);
    }
    PipeBarrier<PIPE_V>();
  }

 private:
  static constexpr uint8_t kBuffers = 2;
  static constexpr uint32_t kHalvesPerRepeat = 128;

  // StartOf is the lane on which the packed elements of a run start.
  __aicore__ inline uint32_t StartOf(const MaskRuns& run, uint32_t lead) const {
    return lead + run.at * length_;
  }

  // Loads the mask rows of a run to byte `*at` of UB, and moves `*at` behind them.
  __aicore__ inline void LoadRun(const LocalTensor<uint8_t>& in, uint32_t* at, const MaskRuns& run,
                                 uint32_t tileLead) {
    const uint32_t lead = StartOf(run, tileLead) % rowreduce::kBlockBytes;
    const uint32_t bytes = run.rows * length_;
    const uint32_t padded = rowreduce::WholeBlocks<uint8_t>(lead + bytes);
    const AscendC::DataCopyPadExtParams<uint8_t> pad(
        true, static_cast<uint8_t>(lead), static_cast<uint8_t>(padded - lead - bytes), 0);
    AscendC::DataCopyPad(in[*at], gm_[run.maskRow * length_],
                         AscendC::DataCopyExtParams(1, bytes, 0, 0, 0), pad);
    *at += padded;
  }

  // Casts the bytes of a run to halves that lie as its elements do. The end of one run and the start of the next may share
  // a block.
  __aicore__ inline void WidenRun(const LocalTensor<half>& halves, const LocalTensor<uint8_t>& in,
                                  uint32_t* at, const MaskRuns& run, uint32_t tileLead) {
    const uint32_t start = StartOf(run, tileLead);
    const uint32_t lead = start % rowreduce::kBlockBytes;
    const uint32_t end = lead + run.rows * length_;
    const LocalTensor<half> dst = halves[start - lead];
    const LocalTensor<uint8_t> src = in[*at];
    uint32_t done = 0;
    if (lead > 0) {
      constexpr uint32_t kHalf = kHalvesPerRepeat / 2;
      const uint64_t low = end < kHalf ? (1ull << end) - 1 : ~0ull;
      const uint64_t high = end < kHalf              ? 0
                            : end < kHalvesPerRepeat ? (1ull << (end - kHalf)) - 1
                                                     : ~0ull;
      uint64_t mask[2] = {low >> lead << lead, high};
      AscendC::Cast(dst, src, AscendC::RoundMode::CAST_NONE, mask, 1,
                    AscendC::UnaryRepeatParams(1, 1, 8, 4));
      done = kHalvesPerRepeat;
    }
    if (done < end) {
      AscendC::Cast(dst[done], src[done], AscendC::RoundMode::CAST_NONE, end - done);
    }
    PipeBarrier<PIPE_V>();
    *at += rowreduce::WholeBlocks<uint8_t>(end);
  }

  // Casts rows of bytes that are `from` apart to rows of halves that are `to` apart; from == 0 repeats one row.
  __aicore__ inline void Widen(const LocalTensor<half>& dst, uint32_t to,
                               const LocalTensor<uint8_t>& src, uint32_t from, uint32_t rows) {
    constexpr uint32_t kHalvesPerBlock = 16;
    if (from == to) {
      AscendC::Cast(dst, src, AscendC::RoundMode::CAST_NONE, rows * to);
      return;
    }
    const uint32_t toBlocks = to / kHalvesPerBlock;
    const uint32_t fromBlocks = from / rowreduce::kBlockBytes;
    if (toBlocks > rowreduce::kMaxRepeatStride || fromBlocks > rowreduce::kMaxRepeatStride ||
        rowreduce::CeilDiv(length_, kHalvesPerRepeat) >= rows) {
      for (uint32_t r = 0; r < rows; ++r) {
        AscendC::Cast(dst[r * to], src[r * from], AscendC::RoundMode::CAST_NONE, length_);
      }
      return;
    }
    const AscendC::UnaryRepeatParams p(1, 1, static_cast<uint8_t>(toBlocks),
                                       static_cast<uint8_t>(fromBlocks));
    for (uint32_t done = 0; done < rows; done += rowreduce::kMaxRepeat) {
      const uint8_t n = static_cast<uint8_t>(rowreduce::Min(rowreduce::kMaxRepeat, rows - done));
      for (uint32_t c = 0; c < length_; c += kHalvesPerRepeat) {
        AscendC::Cast(dst[done * to + c], src[done * from + c], AscendC::RoundMode::CAST_NONE,
                      static_cast<uint64_t>(rowreduce::Min(kHalvesPerRepeat, length_ - c)), n, p);
      }
    }
  }

  const RowMaskTilingData& t_;
  const uint32_t length_;  // elements of a row
  const uint32_t pitch_;   // bytes from one mask row to the next in UB
  AscendC::GlobalTensor<uint8_t> gm_;
  // The mask of the next tile is enqueued before that of a tile is taken.
  AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> queue_;
};

}  // namespace scaledmaskedsoftmaxgradv2

#endif  // OP_KERNEL_SCALED_MASKED_SOFTMAX_GRAD_V2_ROW_MASK_H_
