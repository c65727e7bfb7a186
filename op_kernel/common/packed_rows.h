// SPDX-License-Identifier: Apache-2.0
// Sums and products of fp32 rows that follow each other in UB as they do in GM: `length` lanes each, no
// multiple of 8. A tile of them is one piece of GM; copied row by row, each row would cost GM a good
// start and whole lines for its ends. The first row lies on lane `lead` of a block.
#ifndef OP_KERNEL_COMMON_PACKED_ROWS_H_
#define OP_KERNEL_COMMON_PACKED_ROWS_H_

#include "common/lanes.h"
#include "common/row_reduce_data.h"
#include "kernel_operator.h"

namespace rowreduce {

// Lane: float. A template, so that SoCs without Gather never meet it.
template <typename Lane>
class PackedRows {
 public:
  // rows: the most of a tile.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t length, uint32_t rows) {
    length_ = length;
    pitch_ = AlignUp(length, kBlockLanes);
    const bool many = rows >= kRepeatBlocks && pitch_ < kGatherLanes;
    rowsAtOnce_ = many ? kRepeatBlocks : 1;
    lanesAtOnce_ = many ? kRepeatBlocks * pitch_ : kGatherLanes;
    pipe->InitBuffer(aligned_, rows * pitch_ * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(offsets_, lanesAtOnce_ * static_cast<uint32_t>(sizeof(uint32_t)));
    const LocalTensor<int32_t> offsets = offsets_.Get<int32_t>();
    for (uint32_t r = 0; r < rowsAtOnce_; ++r) {
      AscendC::CreateVecIndex(offsets[r * pitch_], static_cast<int32_t>(r * length),
                              many ? pitch_ : kGatherLanes);
    }
    PipeBarrier<PIPE_V>();
    AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(Lane)),
                  static_cast<int32_t>(lanesAtOnce_));
    PipeBarrier<PIPE_V>();
  }

  // sums[r] = sum of row r, bit by bit that of SumRows for rows padded with zeros. Reads up to 7 lanes
  // behind the last row. scratch: as SumRows takes it.
  __aicore__ inline void Sum(const LocalTensor<Lane>& sums, const LocalTensor<Lane>& src,
                             uint32_t rows, uint32_t lead, const LocalTensor<Lane>& scratch) {
    const LocalTensor<Lane> aligned = aligned_.Get<Lane>();
    for (uint32_t r = 0; r < rows; r += rowsAtOnce_) {
      Align(aligned[r * pitch_], src, lead + r * length_, Min(rowsAtOnce_, rows - r) * pitch_);
    }
    PipeBarrier<PIPE_V>();
    ZeroPads(aligned, pitch_, length_, pitch_, rows);
    PipeBarrier<PIPE_V>();
    SumRows(sums, aligned, pitch_, pitch_, rows, scratch);
  }

  // One row of `length` lanes, at most that of Init, on whole blocks with zeros behind it.
  __aicore__ inline LocalTensor<Lane> AlignedRow(const LocalTensor<Lane>& src, uint32_t length,
                                                 uint32_t lead) {
    const LocalTensor<Lane> aligned = aligned_.Get<Lane>();
    const uint32_t pitch = AlignUp(length, kBlockLanes);
    Align(aligned, src, lead, pitch);
    PipeBarrier<PIPE_V>();
    ZeroPads(aligned, pitch, length, pitch, 1);
    PipeBarrier<PIPE_V>();
    return aligned;
  }

  // a[r, :] *= s[r], where blocks is s after SpreadSums: 64 lanes of all rows that start on the same
  // lane of a block at once, or every other row by itself. Neighbours share a block.
  __aicore__ inline void Scale(const LocalTensor<Lane>& a, const LocalTensor<Lane>& blocks,
                               uint32_t rows, uint32_t lead) const {
    uint32_t step = 1;  // from one row to the next that starts like it
    while (step * length_ % kBlockLanes != 0) {
      step *= 2;
    }
    if (step * length_ <= kMaxRepeatStride * kBlockLanes) {
      for (uint32_t r = 0; r < Min(step, rows); ++r) {
        ScaleAlike(a, lead + r * length_, blocks[r * kBlockLanes], step, CeilDiv(rows - r, step));
      }
      return;
    }
    for (uint32_t odd = 0; odd < 2; ++odd) {
      for (uint32_t r = odd; r < rows; r += 2) {
        ScaleRow(a, lead + r * length_, blocks[r * kBlockLanes]);
      }
      PipeBarrier<PIPE_V>();
    }
  }

  // The lanes of the block in which the results begin, on a block of their own behind `count` lanes: a
  // copy to GM starts on one.
  __aicore__ inline void AlignFirst(const LocalTensor<Lane>& results, uint32_t count,
                                    uint32_t lead) {
    AscendC::Gather(results[AlignUp(count, kBlockLanes)], results, offsets_.Get<uint32_t>(),
                    lead * static_cast<uint32_t>(sizeof(Lane)), kBlockLanes - lead);
  }

 private:
  // dst[i] = src[start + i], but for what pads the rows of one Gather.
  __aicore__ inline void Align(const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src,
                               uint32_t start, uint32_t lanes) {
    for (uint32_t c = 0; c < lanes; c += lanesAtOnce_) {
      AscendC::Gather(dst[c], src, offsets_.Get<uint32_t>(),
                      (start + c) * static_cast<uint32_t>(sizeof(Lane)),
                      Min(lanesAtOnce_, lanes - c));
    }
  }

  // A Gather takes so many lanes of a longer row, and eight rows of shorter ones: whole repeats.
  static constexpr uint32_t kGatherLanes = kRowReduceGatherLanes;

  // Lanes [from, to) of a repeat.
  __aicore__ inline static uint64_t MaskOf(uint32_t from, uint32_t to) {
    return (to < kRepeatLanes ? (1ull << to) - 1 : ~0ull) & ~((1ull << from) - 1);
  }

  // The row that starts on lane `start`, and those that are step, 2 * step and so on behind it.
  __aicore__ inline void ScaleAlike(const LocalTensor<Lane>& a, uint32_t start,
                                    const LocalTensor<Lane>& sums, uint32_t step,
                                    uint32_t count) const {
    const uint8_t stride = static_cast<uint8_t>(step * length_ / kBlockLanes);
    const BinaryRepeatParams p(1, 1, 0, stride, stride, static_cast<uint8_t>(step));
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
  uint32_t pitch_;                                      // whole blocks
  uint32_t rowsAtOnce_;                                 // of one Gather
  uint32_t lanesAtOnce_;                                // of one Gather
  AscendC::TBuf<AscendC::TPosition::VECCALC> aligned_;  // rows, padded with zeros
  AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;  // of the lanes of a Gather, in bytes
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_PACKED_ROWS_H_
