// SPDX-License-Identifier: Apache-2.0
// Sums in the order "tree": halves of a row are added lane by lane until one repeat (or one row of columns) is left, and a
// repeat is added neighbours first. Which elements meet, and when, follows from the length of the row alone. Rows of
// whole blocks and columns are added up in this order (docs/ops/sum_order.md).
#ifndef OP_KERNEL_COMMON_SUM_TREE_H_
#define OP_KERNEL_COMMON_SUM_TREE_H_

#include "common/pipeline.h"

namespace rowreduce {

// Adds the right half of each row to its left half, until a row has at most `stop` lanes. Halves are multiples of `multiple`
// lanes. If one is left over, it is added to the first one of a long row; that of a short row stays in the middle for the next
// halving, which saves an instruction. `scratch` holds rows * width / 2 lanes; it may be src where rows == 1.
__aicore__ inline Matrix AddHalves(const LocalTensor<float>& src, uint32_t pitch, uint32_t width,
                                   uint32_t multiple, uint32_t stop, uint32_t rows,
                                   const LocalTensor<float>& scratch) {
  Matrix f{src, pitch, width};
  const uint32_t scratchPitch = width / multiple / 2 * multiple;
  for (bool first = true; f.width > stop; first = false) {
    const uint32_t half = f.width / multiple / 2 * multiple;
    const bool over = f.width > 2 * half;
    const bool stays = over && !first && f.width <= kShortTree * multiple;
    const uint32_t kept = stays ? half + multiple : half;
    ForRows<Op::kAdd>(scratch, scratchPitch, f.lanes, f.pitch, f.lanes[kept], f.pitch, rows, half);
    PipeBarrier<PIPE_V>();
    if (over && !stays) {
      ForRows<Op::kAdd>(scratch, scratchPitch, scratch, scratchPitch, f.lanes[2 * half], f.pitch,
                        rows, multiple);
      PipeBarrier<PIPE_V>();
    }
    f = Matrix{scratch, scratchPitch, kept};
  }
  return f;
}

// AddHalvesOfRow does so for one long row. Its halves start in different bank groups of UB where `multiple` allows; what lies
// between them waits for the next halving. The last multiple may be shorter. `scratch` holds half of the row in whole multiples
// and 128 lanes more; it may be src.
__aicore__ inline Matrix AddHalvesOfRow(const LocalTensor<float>& src, uint32_t width,
                                        uint32_t multiple, uint32_t stop,
                                        const LocalTensor<float>& scratch) {
  Matrix f{src, width, width};
  while (f.width > stop) {
    uint32_t kept = CeilDiv(f.width, 2 * multiple) * multiple;
    if (f.width > kHalvesApartLanes && kRepeatLanes % multiple == 0) {
      kept = AlignUp(kept + kRepeatLanes, 2 * kRepeatLanes) - kRepeatLanes;
    }
    const uint32_t added = f.width - kept;
    AscendC::Add(scratch, f.lanes, f.lanes[kept], static_cast<int32_t>(added));
    if (kept > added && scratch.GetPhyAddr() != f.lanes.GetPhyAddr()) {
      AscendC::DataCopy(scratch[added], f.lanes[added], kept - added);
    }
    PipeBarrier<PIPE_V>();
    f = Matrix{scratch, kept, kept};
  }
  return f;
}

// sums[r] = the sum of the 8 lanes at src[8 apart r], neighbours first. Ascend910 has no reductions of fp32 and uses
// `spare`, the lanes of 256 blocks, where there are several rows.
__aicore__ inline void SumBlocks(const LocalTensor<float>& sums, const LocalTensor<float>& src,
                                 uint32_t apart, uint32_t rows, const LocalTensor<float>& spare) {
#if OP_KERNEL_NO_FLOAT_REDUCE
  if (rows == 1) {
    PipeBarrier<PIPE_ALL>();  // the scalar unit works until the next one
    float lanes[kBlockLanes];
    for (uint32_t i = 0; i < kBlockLanes; ++i) {
      lanes[i] = src.GetValue(i);
    }
    sums.SetValue(0, ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
    PipeBarrier<PIPE_ALL>();
    return;
  }
  for (uint32_t r = 0; r < rows; r += kSpreadRows) {
    SumBlocksByWords(sums[r], src[r * apart * kBlockLanes], apart, Min(kSpreadRows, rows - r),
                     spare);
    PipeBarrier<PIPE_V>();
  }
#else
  const uint32_t full = rows / kRepeatBlocks;
  if (full > 0) {
    AscendC::BlockReduceSum<float>(sums, src, static_cast<int32_t>(full), kRepeatLanes, 1,
                                   static_cast<int32_t>(apart),
                                   static_cast<int32_t>(apart * kRepeatBlocks));
  }
  const uint32_t rest = rows % kRepeatBlocks;
  if (rest > 0) {
    AscendC::BlockReduceSum<float>(sums[full * kRepeatBlocks], src[full * apart * kRepeatLanes], 1,
                                   static_cast<int32_t>(rest * kBlockLanes), 1,
                                   static_cast<int32_t>(apart),
                                   static_cast<int32_t>(apart * kRepeatBlocks));
  }
#endif
}

// sums[r] = the sum of src[r, 0:width]. The width is a multiple of 8, and lanes that pad a row hold zeros. A row of up to
// 56 lanes adds every eighth lane, one after the other, and then the eight sums. `scratch` holds rows * max(8, width / 2)
// lanes; it may be src where rows == 1. `spare` is that of SumBlocks.
__aicore__ inline void SumRows(const LocalTensor<float>& sums, const LocalTensor<float>& src,
                               uint32_t pitch, uint32_t width, uint32_t rows,
                               const LocalTensor<float>& scratch, const LocalTensor<float>& spare) {
  if (width <= kShortRowLanes) {
    const uint32_t blocks = width / kBlockLanes;
    const uint32_t step = pitch / kBlockLanes;
    LocalTensor<float> partial = src;
    uint32_t apart = step;  // blocks from one partial sum to the next
    if (blocks > 1) {
      partial = scratch;
      apart = 1;
      ForBlocks<Op::kAdd>(partial, 1, src, step, src[kBlockLanes], step, rows);
      PipeBarrier<PIPE_V>();
      for (uint32_t c = 2; c < blocks; ++c) {
        ForBlocks<Op::kAdd>(partial, 1, partial, 1, src[c * kBlockLanes], step, rows);
        PipeBarrier<PIPE_V>();
      }
    }
    SumBlocks(sums, partial, apart, rows, spare);
    return;
  }
#if OP_KERNEL_NO_FLOAT_REDUCE
  const Matrix f = AddHalves(src, pitch, width, kBlockLanes, kBlockLanes, rows, scratch);
  SumBlocks(sums, f.lanes, f.pitch / kBlockLanes, rows, spare);
#else
  const Matrix f = AddHalves(src, pitch, width, kBlockLanes, kRepeatLanes, rows, scratch);
  for (uint32_t r = 0; r < rows; r += kMaxRepeat) {
    AscendC::WholeReduceSum<float>(sums[r], f.lanes[r * f.pitch], static_cast<int32_t>(f.width),
                                   static_cast<int32_t>(Min(kMaxRepeat, rows - r)), 1, 1,
                                   static_cast<int32_t>(f.pitch / kBlockLanes));
  }
#endif
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SUM_TREE_H_
