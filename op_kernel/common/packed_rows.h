// SPDX-License-Identifier: Apache-2.0
// Sums and products of fp32 rows that follow each other in UB as they do in GM: `length` lanes each, no
// whole blocks. A tile of them is one piece of GM; copied row by row, each row would cost GM a good
// start and whole lines for its ends. The first row lies on lane `lead` of a block.
//
// A sum does not care on which lane a row starts: its lanes are added up on a circle, lane i of UB on lane
// i modulo `circle`, one turn after the other, and then the halves of the circle, until one lane is left.
// Wherever a row lies, the same elements meet in the same order.
#ifndef OP_KERNEL_COMMON_PACKED_ROWS_H_
#define OP_KERNEL_COMMON_PACKED_ROWS_H_

#include <type_traits>

#include "common/lanes.h"
#include "common/row_reduce_data.h"
#include "common/transpose.h"
#include "kernel_operator.h"

namespace rowreduce {

// The elements of the block in which results begin, on a block of their own behind them: a copy to GM
// starts on one. Lane: float. A template, so that SoCs without Gather never meet it.
template <typename Lane>
class FirstBlock {
 public:
  // elementBytes: of the results.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t elementBytes) {
    pipe->InitBuffer(offsets_, kMostElements * static_cast<uint32_t>(sizeof(uint32_t)));
    const LocalTensor<int32_t> offsets = offsets_.Get<int32_t>();
    AscendC::CreateVecIndex(offsets, 0, kMostElements);
    PipeBarrier<PIPE_V>();
    AscendC::Muls(offsets, offsets, static_cast<int32_t>(elementBytes),
                  static_cast<int32_t>(kMostElements));
    PipeBarrier<PIPE_V>();
  }

  // The first of `count` results, with what lies in front of them, is element `lead` of its block.
  template <typename T>
  __aicore__ inline void Repeat(const LocalTensor<T>& results, uint32_t count, uint32_t lead) {
    constexpr uint32_t kElements = kBlockBytes / sizeof(T);
    using Word = std::conditional_t<sizeof(T) == sizeof(Lane), Lane, half>;
    const LocalTensor<Word> words = results.template ReinterpretCast<Word>();
    AscendC::Gather(words[AlignUp(count, kElements)], words, offsets_.Get<uint32_t>(),
                    lead * static_cast<uint32_t>(sizeof(T)), kElements - lead);
  }

 private:
  static constexpr uint32_t kMostElements = 16;

  AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;  // of the elements of a block, in bytes
};

// One row, or chunks of it that start on the same lane of a block, with zeros in front of it there.
template <typename Lane>
class PackedRow {
 public:
  // length: of a chunk at most. The tiling mirrors the sizes.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t length) {
    circle_ = kRepeatLanes;
    while (circle_ < kRowReduceChunkCircle && 4 * circle_ <= length) {
      circle_ *= 2;
    }
    pipe->InitBuffer(lanes_, circle_ * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(twice_, 3 * kRepeatLanes * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(offsets_, kRepeatLanes * static_cast<uint32_t>(sizeof(uint32_t)));
    const LocalTensor<int32_t> offsets = offsets_.Get<int32_t>();
    AscendC::CreateVecIndex(offsets, 0, kRepeatLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(Lane)),
                  static_cast<int32_t>(kRepeatLanes));
    PipeBarrier<PIPE_V>();
  }

  // `count` lanes on a circle of at most `most`, 64 or a larger power of two.
  __aicore__ inline Folded Circle(const LocalTensor<Lane>& src, uint32_t count, uint32_t most) {
    const LocalTensor<Lane> circle = lanes_.template Get<Lane>();
    uint32_t done = 0;
    if (count >= 2 * circle_) {
      AscendC::Add(circle, src, src[circle_], static_cast<int32_t>(circle_));
      done = 2 * circle_;
    } else {
      AscendC::Duplicate(circle, 0.0F, static_cast<int32_t>(circle_));
    }
    PipeBarrier<PIPE_V>();
    for (; done < count; done += circle_) {
      AscendC::Add(circle, circle, src[done], static_cast<int32_t>(Min(circle_, count - done)));
      PipeBarrier<PIPE_V>();
    }
    uint32_t width = circle_;
    for (; width > most; width /= 2) {
      AscendC::Add(circle, circle, circle[width / 2], static_cast<int32_t>(width / 2));
      PipeBarrier<PIPE_V>();
    }
    return Folded{circle, width, width};
  }

  // sum[0] = sum of a circle of 64 lanes, read from the lane on which the row starts.
  __aicore__ inline void Sum(const LocalTensor<Lane>& sum, const LocalTensor<Lane>& circle,
                             uint32_t lead) {
    const LocalTensor<Lane> twice = twice_.template Get<Lane>();
    const LocalTensor<Lane> turned = twice[2 * kRepeatLanes];
    AscendC::DataCopy(twice, circle, kRepeatLanes);
    AscendC::DataCopy(twice[kRepeatLanes], circle, kRepeatLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Gather(turned, twice, offsets_.template Get<uint32_t>(),
                    lead * static_cast<uint32_t>(sizeof(Lane)), kRepeatLanes);
    PipeBarrier<PIPE_V>();
    SumRows(sum, turned, kRepeatLanes, kRepeatLanes, 1, turned, turned);
  }

 private:
  uint32_t circle_;                                     // lanes
  AscendC::TBuf<AscendC::TPosition::VECCALC> lanes_;    // of the circle
  AscendC::TBuf<AscendC::TPosition::VECCALC> twice_;    // a circle, once more, and turned
  AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;  // of lanes, in bytes
};

// Whether one instruction reaches rows that start on the same lane of a block.
__aicore__ inline bool RowsAlike(uint32_t length) {
  return PeriodOf(length) <= kMaxRepeatStride * kBlockLanes;
}

// Lanes of the circle on which rows of a tile are added up.
__aicore__ inline uint32_t CircleLanes(uint32_t length) {
  uint32_t circle = kRepeatLanes;
  while (!RowsAlike(length) && circle < kRowReduceCircleLanes && 4 * circle <= length) {
    circle *= 2;
  }
  return circle;
}

// Rows of a tile.
template <typename Lane>
class PackedRows {
 public:
  // pitch: lanes from one row to the next, `length` of packed rows and whole blocks of others, which are
  // added up alike. rows: the most of a tile. The tiling mirrors the sizes.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t length, uint32_t pitch,
                              uint32_t rows) {
    length_ = length;
    pitch_ = pitch;
    step_ = PeriodOf(pitch) / pitch;
    alike_ = RowsAlike(length);
    circle_ = CircleLanes(length);
    const uint32_t groups = CeilDiv(rows, kStreams);
    const uint32_t eights = groups * kStreams * kBlockLanes;
    const uint32_t circles = alike_ ? Max(rows, 2) : rows;  // one is read behind
    pipe->InitBuffer(circles_, circles * circle_ * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(eights_, eights * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(turned_, eights * static_cast<uint32_t>(sizeof(Lane)));
    if (groups > 1) {
      AscendC::Duplicate(eights_.template Get<Lane>(), 0.0F, static_cast<int32_t>(eights));
      PipeBarrier<PIPE_V>();
    }
  }

  // The sum of each row, and anything up to the next multiple of 16: in `sums`, or where the last step left them. Of
  // one row, a block of that. The vector pipe may still be at it.
  __aicore__ inline LocalTensor<Lane> Sum(const LocalTensor<Lane>& sums,
                                          const LocalTensor<Lane>& src, uint32_t rows,
                                          uint32_t lead) {
    const LocalTensor<Lane> circles = circles_.template Get<Lane>();
    if (alike_ && pitch_ % kBlockLanes == 0 && rows <= kStreams) {
      return SumFew(src, rows);
    }
    if (alike_) {
      TurnAlike(circles, src, rows, lead);
    } else {
      TurnRows(circles, src, rows, lead);
    }
    if (rows <= kStreams) {
      return SumFewCircles(circles, circle_, circle_, rows, true);
    }
    SumCircles(sums, circles, rows);
    return sums;
  }

  // a[r, :] *= s[r], where blocks is s after SpreadSums: 64 lanes of all rows that start on the same
  // lane of a block at once, or every other row by itself. Neighbours share a block.
  __aicore__ inline void Scale(const LocalTensor<Lane>& a, const LocalTensor<Lane>& blocks,
                               uint32_t rows, uint32_t lead) const {
    if (alike_) {
      for (uint32_t r = 0; r < Min(step_, rows); ++r) {
        ScaleAlike(a, lead + r * pitch_, blocks[r * kBlockLanes], CeilDiv(rows - r, step_));
      }
      return;
    }
    for (uint32_t odd = 0; odd < 2; ++odd) {
      for (uint32_t r = odd; r < rows; r += 2) {
        ScaleRow(a, lead + r * pitch_, blocks[r * kBlockLanes]);
      }
      PipeBarrier<PIPE_V>();
    }
  }

 private:
  // Lanes [from, to) of a repeat.
  __aicore__ inline static uint64_t MaskOf(uint32_t from, uint32_t to) {
    return (to < kRepeatLanes ? (1ull << to) - 1 : ~0ull) & ~((1ull << from) - 1);
  }

  // Rows that are `step_` apart start on the same lane of a block: one instruction takes 64 lanes of all.
  __aicore__ inline void TurnAlike(const LocalTensor<Lane>& circles, const LocalTensor<Lane>& src,
                                   uint32_t rows, uint32_t lead) const {
    AscendC::Duplicate(circles, 0.0F, static_cast<int32_t>(rows * kRepeatLanes));
    PipeBarrier<PIPE_V>();
    const uint8_t apart = Bits8(step_ * kRepeatBlocks);
    const BinaryRepeatParams p(1, 1, 1, apart, apart, Bits8(step_ * pitch_ / kBlockLanes));
    for (uint32_t c = 0; c < kBlockLanes + length_; c += kRepeatLanes) {
      for (uint32_t r = 0; r < Min(step_, rows); ++r) {
        const uint32_t start = lead + r * pitch_;
        const uint32_t first = start % kBlockLanes;
        if (first + length_ <= c) {
          continue;
        }
        const LocalTensor<Lane> sums = circles[r * kRepeatLanes];
        uint64_t mask[2] = {MaskOf(c == 0 ? first : 0, first + length_ - c), 0};
        Repeat<Op::kAdd>(sums, sums, src[start - first + c], mask, CeilDiv(rows - r, step_), p);
      }
      PipeBarrier<PIPE_V>();
    }
  }

  // Row by row, at least two turns each.
  __aicore__ inline void TurnRows(const LocalTensor<Lane>& circles, const LocalTensor<Lane>& src,
                                  uint32_t rows, uint32_t lead) const {
    const uint32_t most = kBlockLanes - 1 + length_;
    for (uint32_t c = circle_; c < most; c += circle_) {
      for (uint32_t r = 0; r < rows; ++r) {
        const uint32_t start = lead + r * pitch_;
        const uint32_t end = start % kBlockLanes + length_;
        const LocalTensor<Lane> row = src[start / kBlockLanes * kBlockLanes];
        const LocalTensor<Lane> circle = circles[r * circle_];
        if (c < end) {
          AscendC::Add(circle, c == circle_ ? row : circle, row[c],
                       static_cast<int32_t>(Min(circle_, end - c)));
        }
      }
      PipeBarrier<PIPE_V>();
      if (c == circle_) {
        DropNeighbours(circles, src, rows, lead);
      }
    }
  }

  // The first turn has taken lanes of the row in front: only those of the second belong there.
  __aicore__ inline void DropNeighbours(const LocalTensor<Lane>& circles,
                                        const LocalTensor<Lane>& src, uint32_t rows,
                                        uint32_t lead) const {
    bool drops = false;
    for (uint32_t r = 0; r < rows; ++r) {
      const uint32_t start = lead + r * pitch_;
      const uint32_t first = start % kBlockLanes;
      if (first > 0) {
        drops = true;
        uint64_t mask[2] = {MaskOf(0, first), 0};
        AscendC::Adds(circles[r * circle_], src[start - first + circle_], 0.0F, mask, 1,
                      AscendC::UnaryRepeatParams(1, 1, kRepeatBlocks, kRepeatBlocks));
      }
    }
    if (drops) {
      PipeBarrier<PIPE_V>();
    }
  }

  // As TurnAlike, of at most 16 rows that start on blocks, with zeros up to the next one: what is zero on a circle
  // is left out. No sum is -0, as one of those zeros is part of it.
  __aicore__ inline LocalTensor<Lane> SumFew(const LocalTensor<Lane>& src, uint32_t rows) {
    const uint32_t width = AlignUp(length_, kBlockLanes);
    if (width <= kRepeatLanes) {
      return SumFewCircles(src, pitch_, width, rows, false);
    }
    const LocalTensor<Lane> circles = circles_.template Get<Lane>();
    const uint32_t second = Min(kRepeatLanes, width - kRepeatLanes);
    ForRows<Op::kAdd>(circles, kRepeatLanes, src, pitch_, src[kRepeatLanes], pitch_, rows, second);
    // Of one row a whole repeat, up to its last block.
    CopyLanes(circles, src, second,
              rows == 1 && second < kRepeatLanes ? second + kRepeatLanes : kRepeatLanes, rows);
    PipeBarrier<PIPE_V>();
    for (uint32_t c = 2 * kRepeatLanes; c < width; c += kRepeatLanes) {
      ForRows<Op::kAdd>(circles, kRepeatLanes, circles, kRepeatLanes, src[c], pitch_, rows,
                        Min(kRepeatLanes, width - c));
      PipeBarrier<PIPE_V>();
    }
    return SumFewCircles(circles, kRepeatLanes, kRepeatLanes, rows, true);
  }

  // circles[r, from:to] = src[r, from:to].
  __aicore__ inline void CopyLanes(const LocalTensor<Lane>& circles, const LocalTensor<Lane>& src,
                                   uint32_t from, uint32_t to, uint32_t rows) const {
    if (from < to) {
      AscendC::Adds(circles[from], src[from], 0.0F, static_cast<uint64_t>(to - from), Bits8(rows),
                    AscendC::UnaryRepeatParams(1, 1, Bits8(circle_ / kBlockLanes),
                                               Bits8(pitch_ / kBlockLanes)));
    }
  }

  // The sums of at most 16 rows, of which the first `width` lanes are on their circle, or in circles_ already. A whole
  // repeat is faster than a part of one: of one row, what lies behind takes part as well, and is not looked at.
  __aicore__ inline LocalTensor<Lane> SumFewCircles(const LocalTensor<Lane>& src, uint32_t pitch,
                                                    uint32_t width, uint32_t rows, bool made) {
    constexpr int32_t kLanes = static_cast<int32_t>(kRepeatLanes);
    const LocalTensor<Lane> circles = circles_.template Get<Lane>();
    const LocalTensor<Lane> eights = eights_.template Get<Lane>();
    LocalTensor<Lane> lanes = src;
    bool inCircles = made;
    for (uint32_t half = circle_ / 2; half >= kBlockLanes; half /= 2) {
      if (width <= half) {
        continue;
      }
      if (!made) {
        ForRows<Op::kAdd>(circles, circle_, lanes, pitch, lanes[half], pitch, rows, width - half);
        CopyLanes(circles, lanes, width - half, half, rows);
        lanes = circles;
        pitch = circle_;
        made = inCircles = true;
      } else if (rows == 1 && half < kRepeatLanes) {
        const LocalTensor<Lane> from = lanes;
        lanes = inCircles ? eights : circles;  // operands must not overlap
        inCircles = !inCircles;
        AscendC::Add(lanes, from, from[half], kLanes);
      } else {
        ForRows<Op::kAdd>(lanes, circle_, lanes, circle_, lanes[half], circle_, rows, half);
      }
      PipeBarrier<PIPE_V>();
      width = half;
    }
    const LocalTensor<Lane> turned = turned_.template Get<Lane>();
    if (rows == 1) {
      AscendC::Brcb(turned, lanes, 1, AscendC::BrcbRepeatParams(1, kRepeatBlocks));
      PipeBarrier<PIPE_V>();
      AscendC::Add(eights, turned, turned[4 * kBlockLanes], kLanes);
      PipeBarrier<PIPE_V>();
      AscendC::Add(turned, eights, eights[2 * kBlockLanes], kLanes);
      PipeBarrier<PIPE_V>();
      AscendC::Add(eights, turned, turned[kBlockLanes], kLanes);
      return eights;
    }
    BlocksToLanes(turned, lanes, pitch, rows);
    PipeBarrier<PIPE_V>();
    AscendC::Add(turned, turned, turned[4 * kStreams], kLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Add(eights, turned, turned[2 * kStreams], kLanes);
    PipeBarrier<PIPE_V>();
    AscendC::Add(turned, eights, eights[kStreams], kLanes);
    return turned;
  }

  // sums[r] = sum of circles[r, :], which it changes.
  __aicore__ inline void SumCircles(const LocalTensor<Lane>& sums, const LocalTensor<Lane>& circles,
                                    uint32_t rows) {
    const LocalTensor<Lane> eights = eights_.template Get<Lane>();
    for (uint32_t half = circle_ / 2; half >= kBlockLanes; half /= 2) {
      const bool last = half == kBlockLanes;
      ForRows<Op::kAdd>(last ? eights : circles, last ? kBlockLanes : circle_, circles, circle_,
                        circles[half], circle_, rows, half);
      PipeBarrier<PIPE_V>();
    }
    const LocalTensor<Lane> turned = turned_.template Get<Lane>();
    const uint32_t groups = CeilDiv(rows, kStreams);
    BlocksToLanes(turned, eights, groups);
    PipeBarrier<PIPE_V>();
    constexpr uint32_t kGroup = kStreams * kBlockLanes;
    for (uint32_t half = kGroup / 2; half >= kStreams; half /= 2) {
      const bool last = half == kStreams;
      ForRows<Op::kAdd>(last ? sums : turned, last ? kStreams : kGroup, turned, kGroup,
                        turned[half], kGroup, groups, half);
      PipeBarrier<PIPE_V>();
    }
  }

  // The row that starts on lane `start`, and those that are step_, 2 * step_ and so on behind it.
  __aicore__ inline void ScaleAlike(const LocalTensor<Lane>& a, uint32_t start,
                                    const LocalTensor<Lane>& sums, uint32_t count) const {
    const uint8_t stride = Bits8(step_ * pitch_ / kBlockLanes);
    const BinaryRepeatParams p(1, 1, 0, stride, stride, Bits8(step_));
    const uint32_t lead = start % kBlockLanes;
    const uint32_t end = lead + length_;
    for (uint32_t c = 0; c < end; c += kRepeatLanes) {
      const LocalTensor<Lane> lanes = a[start - lead + c];
      uint64_t mask[2] = {MaskOf(c == 0 ? lead : 0, end - c), 0};
      Repeat<Op::kMul>(lanes, lanes, sums, mask, count, p);
      PipeBarrier<PIPE_V>();
    }
  }

  __aicore__ inline void ScaleRow(const LocalTensor<Lane>& a, uint32_t start,
                                  const LocalTensor<Lane>& sum) const {
    const BinaryRepeatParams p(1, 1, 0, kRepeatBlocks, kRepeatBlocks, 0);
    const uint32_t lead = start % kBlockLanes;
    const LocalTensor<Lane> first = a[start - lead];
    uint64_t mask[2] = {MaskOf(lead, kRepeatLanes), 0};
    Repeat<Op::kMul>(first, first, sum, mask, 1, p);
    const uint32_t left = lead + length_ - kRepeatLanes;
    const LocalTensor<Lane> whole = first[kRepeatLanes];
    Repeat<Op::kMul>(whole, whole, sum, static_cast<uint64_t>(kRepeatLanes), left / kRepeatLanes,
                     p);
    if (left % kRepeatLanes > 0) {
      const LocalTensor<Lane> tail = whole[left / kRepeatLanes * kRepeatLanes];
      Repeat<Op::kMul>(tail, tail, sum, static_cast<uint64_t>(left % kRepeatLanes), 1, p);
    }
  }

  uint32_t length_;
  uint32_t pitch_;
  uint32_t step_ = 1;  // from one row to the next that starts like it
  bool alike_;         // whether one instruction reaches both
  uint32_t circle_;    // lanes
  AscendC::TBuf<AscendC::TPosition::VECCALC> circles_;  // one of each row
  AscendC::TBuf<AscendC::TPosition::VECCALC> eights_;   // the last block of each circle
  AscendC::TBuf<AscendC::TPosition::VECCALC> turned_;   // the same, rows along the lanes
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_PACKED_ROWS_H_
