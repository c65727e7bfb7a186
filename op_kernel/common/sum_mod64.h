// SPDX-License-Identifier: Apache-2.0
// Sums in the order "mod64", of rows that are no multiple of 8: element i is added to partial sum i
// modulo 64, the next 64 elements after the last 64; then partial sums half of that apart are added,
// a quarter, and so on. (Rows of more than 255 elements take a larger power of two where a stride
// does not fit: FitsStride and PartialCount of row_reduce_data.h.) Wherever a row starts in UB, the same
// elements meet in the same order, so all layouts give the same bits.
#ifndef OP_KERNEL_COMMON_SUM_MOD64_H_
#define OP_KERNEL_COMMON_SUM_MOD64_H_

#include "common/sum_tree.h"
#include "common/vector_ops.h"

namespace rowreduce {

// MaskOf selects lanes [from, to) of a repeat.
__aicore__ inline uint64_t MaskOf(uint32_t from, uint32_t to) {
  return (to < kRepeatLanes ? (1ull << to) - 1 : ~0ull) & ~((1ull << from) - 1);
}

// Mod64Rows adds up the rows of a tile. Lane is float. It is a parameter so that SoCs without
// Gather never compile this.
template <typename Lane>
class Mod64Rows {
 public:
  // `pitch` is the number of lanes from one row to the next: `length` of packed rows, whole blocks of padded ones.
  __aicore__ inline void Init(TPipe* pipe, const RowsUb& ub, uint32_t length, uint32_t pitch) {
    length_ = length;
    pitch_ = pitch;
    stride_ = static_cast<uint32_t>(PeriodOf(pitch)) / pitch;
    fitsStride_ = FitsStride(length);
    partialCount_ = static_cast<uint32_t>(TilePartialCount(length));
    pipe->InitBuffer(partials_, ub.partials.bytes);
    pipe->InitBuffer(lasts_, ub.lasts.bytes);
    pipe->InitBuffer(transposed_, ub.transposed.bytes);
    const uint32_t lanes = ub.lasts.bytes / static_cast<uint32_t>(sizeof(Lane));
    const uint32_t groups = lanes / (kStreams * kBlockLanes);
    if (groups > 1) {
      AscendC::Duplicate(lasts_.template Get<Lane>(), 0.0F, static_cast<int32_t>(lanes));
      PipeBarrier<PIPE_V>();
    }
  }

  // Returns the sum of each row, and anything up to the next multiple of 16: in `sums`, or where
  // the last instruction left them. The sum of a single row fills a block. The vector pipe may
  // still be at work. `lead` is the lane of a block on which the first row starts.
  __aicore__ inline LocalTensor<Lane> Sum(const LocalTensor<Lane>& sums,
                                          const LocalTensor<Lane>& src, uint32_t rows,
                                          uint32_t lead) {
    const LocalTensor<Lane> partials = partials_.template Get<Lane>();
    if (fitsStride_ && pitch_ % kBlockLanes == 0 && rows <= kStreams) {
      return SumFew(src, rows);
    }
    if (fitsStride_) {
      AddByStride(partials, src, rows, lead);
    } else {
      AddRowByRow(partials, src, rows, lead);
    }
    if (rows <= kStreams) {
      return SumFewPartials(partials, partialCount_, partialCount_, rows, true);
    }
    SumPartials(sums, partials, rows);
    return sums;
  }

 private:
  // Rows that are `stride_` apart start on the same lane of a block: one instruction takes 64 lanes of all.
  __aicore__ inline void AddByStride(const LocalTensor<Lane>& partials,
                                     const LocalTensor<Lane>& src, uint32_t rows,
                                     uint32_t lead) const {
    AscendC::Duplicate(partials, 0.0F, static_cast<int32_t>(rows * kRepeatLanes));
    PipeBarrier<PIPE_V>();
    const uint8_t apart = Bits8(stride_ * kRepeatBlocks);
    const BinaryRepeatParams p(1, 1, 1, apart, apart, Bits8(stride_ * pitch_ / kBlockLanes));
    for (uint32_t c = 0; c < kBlockLanes + length_; c += kRepeatLanes) {
      for (uint32_t r = 0; r < Min(stride_, rows); ++r) {
        const uint32_t start = lead + r * pitch_;
        const uint32_t first = start % kBlockLanes;
        if (first + length_ <= c) {
          continue;
        }
        const LocalTensor<Lane> sums = partials[r * kRepeatLanes];
        uint64_t mask[2] = {MaskOf(c == 0 ? first : 0, first + length_ - c), 0};
        Repeat<Op::kAdd>(sums, sums, src[start - first + c], mask, CeilDiv(rows - r, stride_), p);
      }
      PipeBarrier<PIPE_V>();
    }
  }

  // Rows that no stride reaches are added one by one. Each has twice `partialCount_` lanes or more.
  __aicore__ inline void AddRowByRow(const LocalTensor<Lane>& partials,
                                     const LocalTensor<Lane>& src, uint32_t rows,
                                     uint32_t lead) const {
    const uint32_t most = kBlockLanes - 1 + length_;
    for (uint32_t c = partialCount_; c < most; c += partialCount_) {
      for (uint32_t r = 0; r < rows; ++r) {
        const uint32_t start = lead + r * pitch_;
        const uint32_t end = start % kBlockLanes + length_;
        const LocalTensor<Lane> row = src[start / kBlockLanes * kBlockLanes];
        const LocalTensor<Lane> partial = partials[r * partialCount_];
        if (c < end) {
          AscendC::Add(partial, c == partialCount_ ? row : partial, row[c],
                       static_cast<int32_t>(Min(partialCount_, end - c)));
        }
      }
      PipeBarrier<PIPE_V>();
      if (c == partialCount_) {
        DropNeighbours(partials, src, rows, lead);
      }
    }
  }

  // The first `partialCount_` lanes began with some of the row in front of each; only those of the second belong there.
  __aicore__ inline void DropNeighbours(const LocalTensor<Lane>& partials,
                                        const LocalTensor<Lane>& src, uint32_t rows,
                                        uint32_t lead) const {
    bool drops = false;
    for (uint32_t r = 0; r < rows; ++r) {
      const uint32_t start = lead + r * pitch_;
      const uint32_t first = start % kBlockLanes;
      if (first > 0) {
        drops = true;
        uint64_t mask[2] = {MaskOf(0, first), 0};
        AscendC::Adds(partials[r * partialCount_], src[start - first + partialCount_], 0.0F, mask,
                      1, AscendC::UnaryRepeatParams(1, 1, kRepeatBlocks, kRepeatBlocks));
      }
    }
    if (drops) {
      PipeBarrier<PIPE_V>();
    }
  }

  // Adds up at most 16 rows that start on blocks and end in zeros. Lanes that would only add zeros are left out. No sum is
  // -0, since one of those zeros is part of it.
  __aicore__ inline LocalTensor<Lane> SumFew(const LocalTensor<Lane>& src, uint32_t rows) {
    const uint32_t width = AlignUp(length_, kBlockLanes);
    if (width <= kRepeatLanes) {
      return SumFewPartials(src, pitch_, width, rows, false);
    }
    const LocalTensor<Lane> partials = partials_.template Get<Lane>();
    const uint32_t second = Min(kRepeatLanes, width - kRepeatLanes);
    ForRows<Op::kAdd>(partials, kRepeatLanes, src, pitch_, src[kRepeatLanes], pitch_, rows, second);
    // A single row is copied as a whole repeat.
    CopyLanes(partials, src, second,
              rows == 1 && second < kRepeatLanes ? second + kRepeatLanes : kRepeatLanes, rows);
    PipeBarrier<PIPE_V>();
    for (uint32_t c = 2 * kRepeatLanes; c < width; c += kRepeatLanes) {
      ForRows<Op::kAdd>(partials, kRepeatLanes, partials, kRepeatLanes, src[c], pitch_, rows,
                        Min(kRepeatLanes, width - c));
      PipeBarrier<PIPE_V>();
    }
    return SumFewPartials(partials, kRepeatLanes, kRepeatLanes, rows, true);
  }

  // partials[r, from:to] = src[r, from:to].
  __aicore__ inline void CopyLanes(const LocalTensor<Lane>& partials, const LocalTensor<Lane>& src,
                                   uint32_t from, uint32_t to, uint32_t rows) const {
    if (from < to) {
      AscendC::Adds(partials[from], src[from], 0.0F, static_cast<uint64_t>(to - from), Bits8(rows),
                    AscendC::UnaryRepeatParams(1, 1, Bits8(partialCount_ / kBlockLanes),
                                               Bits8(pitch_ / kBlockLanes)));
    }
  }

  // Adds up the first `width` lanes of at most 16 rows, or what is in partials_ already (`made`). A whole
  // repeat is faster than a part of one, so what lies behind a single row takes part as well; nobody reads that.
  __aicore__ inline LocalTensor<Lane> SumFewPartials(const LocalTensor<Lane>& src, uint32_t pitch,
                                                     uint32_t width, uint32_t rows, bool made) {
    constexpr int32_t kLanes = static_cast<int32_t>(kRepeatLanes);
    const LocalTensor<Lane> partials = partials_.template Get<Lane>();
    const LocalTensor<Lane> lasts = lasts_.template Get<Lane>();
    LocalTensor<Lane> lanes = src;
    bool inPartials = made;
    for (uint32_t half = partialCount_ / 2; half >= kBlockLanes; half /= 2) {
      if (width <= half) {
        continue;
      }
      if (!made) {
        ForRows<Op::kAdd>(partials, partialCount_, lanes, pitch, lanes[half], pitch, rows,
                          width - half);
        CopyLanes(partials, lanes, width - half, half, rows);
        lanes = partials;
        pitch = partialCount_;
        made = inPartials = true;
      } else if (rows == 1 && half < kRepeatLanes) {
        const LocalTensor<Lane> from = lanes;
        lanes = inPartials ? lasts : partials;  // operands must not overlap
        inPartials = !inPartials;
        AscendC::Add(lanes, from, from[half], kLanes);
      } else {
        ForRows<Op::kAdd>(lanes, partialCount_, lanes, partialCount_, lanes[half], partialCount_,
                          rows, half);
      }
      PipeBarrier<PIPE_V>();
      width = half;
    }
    const LocalTensor<Lane> transposed = transposed_.template Get<Lane>();
    if (rows == 1) {
      AscendC::Brcb(transposed, lanes, 1, AscendC::BrcbRepeatParams(1, kRepeatBlocks));
      PipeBarrier<PIPE_V>();
      AscendC::Add(lasts, transposed, transposed[4 * kBlockLanes], kLanes);
      PipeBarrier<PIPE_V>();
      AscendC::Add(transposed, lasts, lasts[2 * kBlockLanes], kLanes);
      PipeBarrier<PIPE_V>();
      AscendC::Add(lasts, transposed, transposed[kBlockLanes], kLanes);
      return lasts;
    }
    StreamsToLanes(transposed, lanes, kBlockLanes, pitch, rows);
    PipeBarrier<PIPE_V>();
    AscendC::Add(transposed, transposed, transposed[4 * kStreams], kLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Add(lasts, transposed, transposed[2 * kStreams], kLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Add(transposed, lasts, lasts[kStreams], kLanes);
    return transposed;
  }

  // sums[r] = the sum of partials[r, :], which it changes.
  __aicore__ inline void SumPartials(const LocalTensor<Lane>& sums,
                                     const LocalTensor<Lane>& partials, uint32_t rows) {
    const LocalTensor<Lane> lasts = lasts_.template Get<Lane>();
    for (uint32_t half = partialCount_ / 2; half >= kBlockLanes; half /= 2) {
      const bool last = half == kBlockLanes;
      ForRows<Op::kAdd>(last ? lasts : partials, last ? kBlockLanes : partialCount_, partials,
                        partialCount_, partials[half], partialCount_, rows, half);
      PipeBarrier<PIPE_V>();
    }
    const LocalTensor<Lane> transposed = transposed_.template Get<Lane>();
    const uint32_t groups = CeilDiv(rows, kStreams);
    BlocksToLanes(transposed, lasts, groups);
    PipeBarrier<PIPE_V>();
    constexpr uint32_t kGroup = kStreams * kBlockLanes;
    for (uint32_t half = kGroup / 2; half >= kStreams; half /= 2) {
      const bool last = half == kStreams;
      ForRows<Op::kAdd>(last ? sums : transposed, last ? kStreams : kGroup, transposed, kGroup,
                        transposed[half], kGroup, groups, half);
      PipeBarrier<PIPE_V>();
    }
  }

  uint32_t length_;
  uint32_t pitch_;
  uint32_t stride_ = 1;  // rows from one row to the next that starts on the same lane of a block
  bool fitsStride_;
  uint32_t partialCount_;
  TBuf<TPosition::VECCALC> partials_;    // partial sums of each row
  TBuf<TPosition::VECCALC> lasts_;       // the last eight of each row
  TBuf<TPosition::VECCALC> transposed_;  // the same, rows along the lanes
};

// Mod64Row adds up one long row, or chunks of it that start on the same lane of a block, behind
// zeros. Lane is float, as above.
template <typename Lane>
class Mod64Row {
 public:
  __aicore__ inline void Init(TPipe* pipe, const SharedUb& ub, uint32_t length) {
    partialCount_ = static_cast<uint32_t>(PartialCount(length, kChunkModulus));
    pipe->InitBuffer(partials_, ub.partials.bytes);
    pipe->InitBuffer(twice_, ub.twice.bytes);
    pipe->InitBuffer(offsets_, ub.offsets.bytes);
    const LocalTensor<int32_t> offsets = offsets_.Get<int32_t>();
    AscendC::CreateVecIndex(offsets, 0, kRepeatLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(Lane)),
                  static_cast<int32_t>(kRepeatLanes));
    PipeBarrier<PIPE_V>();
  }

  // Makes partial sums of `count` lanes, at most `most` of them, a power of two from 64 on.
  __aicore__ inline Matrix Add(const LocalTensor<Lane>& src, uint32_t count, uint32_t most) {
    const LocalTensor<Lane> partials = partials_.template Get<Lane>();
    uint32_t done = 0;
    if (count >= 2 * partialCount_) {
      AscendC::Add(partials, src, src[partialCount_], static_cast<int32_t>(partialCount_));
      done = 2 * partialCount_;
    } else {
      AscendC::Duplicate(partials, 0.0F, static_cast<int32_t>(partialCount_));
    }
    PipeBarrier<PIPE_V>();
    for (; done < count; done += partialCount_) {
      AscendC::Add(partials, partials, src[done],
                   static_cast<int32_t>(Min(partialCount_, count - done)));
      PipeBarrier<PIPE_V>();
    }
    uint32_t width = partialCount_;
    for (; width > most; width /= 2) {
      AscendC::Add(partials, partials, partials[width / 2], static_cast<int32_t>(width / 2));
      PipeBarrier<PIPE_V>();
    }
    return Matrix{partials, width, width};
  }

  // sum[0] = the sum of 64 partial sums, of which the first is on lane `lead`.
  __aicore__ inline void Sum(const LocalTensor<Lane>& sum, const LocalTensor<Lane>& partials,
                             uint32_t lead) {
    const LocalTensor<Lane> twice = twice_.template Get<Lane>();
    const LocalTensor<Lane> inOrder = twice[2 * kRepeatLanes];
    AscendC::DataCopy(twice, partials, kRepeatLanes);
    AscendC::DataCopy(twice[kRepeatLanes], partials, kRepeatLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Gather(inOrder, twice, offsets_.template Get<uint32_t>(),
                    lead * static_cast<uint32_t>(sizeof(Lane)), kRepeatLanes);
    PipeBarrier<PIPE_V>();
    SumRows(sum, inOrder, kRepeatLanes, kRepeatLanes, 1, inOrder, inOrder);
  }

 private:
  uint32_t partialCount_;
  TBuf<TPosition::VECCALC> partials_;
  TBuf<TPosition::VECCALC> twice_;  // the partial sums, two times in a row, and from lane `lead` on
  TBuf<TPosition::VECCALC> offsets_;  // byte offsets of lanes
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SUM_MOD64_H_
