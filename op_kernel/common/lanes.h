// SPDX-License-Identifier: Apache-2.0
// fp32 vector arithmetic on matrices in UB: rows at a pitch, sums of rows, products with one value
// per row or per column.
#ifndef OP_KERNEL_COMMON_LANES_H_
#define OP_KERNEL_COMMON_LANES_H_

#include "common/words.h"
#include "kernel_operator.h"

// Which API the SoC lacks.
#if defined(__CCE_AICORE__) && __CCE_AICORE__ < 220
#define OP_KERNEL_NO_BRCB 1
#else
#define OP_KERNEL_NO_BRCB 0
#endif
#if defined(__CCE_AICORE__) && __CCE_AICORE__ == 100
#define OP_KERNEL_NO_FLOAT_REDUCE 1  // WholeReduceSum, BlockReduceSum
#else
#define OP_KERNEL_NO_FLOAT_REDUCE 0
#endif

namespace rowreduce {

using AscendC::BinaryRepeatParams;

constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kBlockLanes = 8;    // fp32 lanes of one 32-byte block
constexpr uint32_t kRepeatLanes = 64;  // fp32 lanes of one repeat
constexpr uint32_t kRepeatBlocks = 8;
constexpr uint32_t kMaxRepeat = 255;
constexpr uint32_t kMaxRepeatStride = 255;  // blocks
// Up to here a row is so short that an instruction takes one block of each of eight rows instead of
// one row per repeat.
constexpr uint32_t kShortRowLanes = 56;

// Of an instruction, and of one that the next one waits for: what decides between few of them and short ones.
constexpr uint32_t kIssueCycles = 4;
constexpr uint32_t kDrainCycles = 24;
constexpr uint32_t kPartCycles = 16;  // more, of one whose lanes are no whole repeats

constexpr uint32_t kBankGroupLanes = 2 * kRepeatLanes;  // over all 16 bank groups of UB

enum class Op { kAdd, kMul };

__aicore__ inline uint32_t Min(uint32_t a, uint32_t b) { return a < b ? a : b; }
__aicore__ inline uint32_t Max(uint32_t a, uint32_t b) { return a > b ? a : b; }
__aicore__ inline uint32_t CeilDiv(uint32_t a, uint32_t b) { return (a + b - 1) / b; }
__aicore__ inline uint32_t AlignUp(uint32_t a, uint32_t b) { return CeilDiv(a, b) * b; }

// The fewest lanes that are whole blocks, and a multiple of `lanes`.
__aicore__ inline uint32_t PeriodOf(uint32_t lanes) {
  uint32_t period = lanes;
  while (period % kBlockLanes != 0) {
    period *= 2;
  }
  return period;
}

// Repeats and repeat strides have 8 bits. What a function does not bound itself, the tiling does
// (op_host/common/row_reduce_whole.cpp); a debug build on the CPU stops where both failed.
__aicore__ inline uint8_t Bits8(uint32_t value) {
  ASCENDC_ASSERT((value <= 255), {
    KERNEL_LOG(KERNEL_ERROR, "%u does not fit the 8 bits of an instruction's repeat", value);
  });
  return static_cast<uint8_t>(value);
}

// One instruction per 255 repeats. The mask counts lanes, or has a bit for each.
template <Op op, typename Mask>
__aicore__ inline void Repeat(const LocalTensor<float>& dst, const LocalTensor<float>& a,
                              const LocalTensor<float>& b, Mask mask, uint32_t repeats,
                              const BinaryRepeatParams& p) {
  for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
    const uint8_t n = Bits8(Min(kMaxRepeat, repeats - done));
    const uint32_t at = done * kBlockLanes;
    if constexpr (op == Op::kAdd) {
      AscendC::Add(dst[at * p.dstRepStride], a[at * p.src0RepStride], b[at * p.src1RepStride], mask,
                   n, p);
    } else {
      AscendC::Mul(dst[at * p.dstRepStride], a[at * p.src0RepStride], b[at * p.src1RepStride], mask,
                   n, p);
    }
  }
}

// Whether a repeat for each of so many rows would do little in each.
__aicore__ inline bool IsNarrow(uint32_t rows, uint32_t lanes) {
  return lanes % kBlockLanes == 0 && 2 * lanes <= kRepeatLanes && rows >= 4 * kRepeatBlocks;
}

// dst[r] = a[r] op b[r] for blocks of 8 lanes, which lie `*Step` blocks apart: eight rows per
// repeat.
template <Op op>
__aicore__ inline void ForBlocks(const LocalTensor<float>& dst, uint32_t dstStep,
                                 const LocalTensor<float>& a, uint32_t aStep,
                                 const LocalTensor<float>& b, uint32_t bStep, uint32_t rows) {
  const BinaryRepeatParams p(Bits8(dstStep), Bits8(aStep), Bits8(bStep),
                             Bits8(dstStep * kRepeatBlocks), Bits8(aStep * kRepeatBlocks),
                             Bits8(bStep * kRepeatBlocks));
  const uint32_t full = rows / kRepeatBlocks;
  Repeat<op>(dst, a, b, kRepeatLanes, full, p);
  const uint32_t rest = rows % kRepeatBlocks;
  if (rest > 0) {
    const uint32_t at = full * kRepeatLanes;
    Repeat<op>(dst[at * dstStep], a[at * aStep], b[at * bStep], rest * kBlockLanes, 1, p);
  }
}

// dst[r, 0:lanes] = a[r, 0:lanes] op b[r, 0:lanes]. Pitches are multiples of 8 lanes; pitch 0 uses
// one row for all. Takes the form with less work: a block of each of eight rows at once, 64 columns of
// all rows, or one whole row.
template <Op op>
__aicore__ inline void ForRows(const LocalTensor<float>& dst, uint32_t dstPitch,
                               const LocalTensor<float>& a, uint32_t aPitch,
                               const LocalTensor<float>& b, uint32_t bPitch, uint32_t rows,
                               uint32_t lanes) {
  constexpr uint32_t kMaxPitch = kMaxRepeatStride * kBlockLanes;
  // Blocks a repeat apart are in one or two bank groups of UB: they would wait for each other.
  const bool spread = aPitch % kRepeatLanes != 0 && bPitch % kRepeatLanes != 0;
  if (IsNarrow(rows, lanes) && spread &&
      Max(dstPitch, Max(aPitch, bPitch)) * kRepeatBlocks <= kMaxPitch) {
    for (uint32_t c = 0; c < lanes; c += kBlockLanes) {
      ForBlocks<op>(dst[c], dstPitch / kBlockLanes, a[c], aPitch / kBlockLanes, b[c],
                    bPitch / kBlockLanes, rows);
    }
    return;
  }
  // Columns lie between each other: where there are several, each waits for the one before.
  const uint32_t columns = CeilDiv(lanes, kRepeatLanes);
  const uint32_t waits = columns > 1 ? kDrainCycles : 0;
  const uint32_t part = lanes % kRepeatLanes > 0 ? kPartCycles : 0;
  const bool byColumns =
      dstPitch <= kMaxPitch && aPitch <= kMaxPitch && bPitch <= kMaxPitch &&
      columns * (rows + waits) + part < rows * (Max(columns, kIssueCycles) + part);
  if (byColumns) {
    const BinaryRepeatParams p(1, 1, 1, Bits8(dstPitch / kBlockLanes), Bits8(aPitch / kBlockLanes),
                               Bits8(bPitch / kBlockLanes));
    for (uint32_t c = 0; c < lanes; c += kRepeatLanes) {
      Repeat<op>(dst[c], a[c], b[c], Min(kRepeatLanes, lanes - c), rows, p);
    }
    return;
  }
  for (uint32_t r = 0; r < rows; ++r) {
    if constexpr (op == Op::kAdd) {
      AscendC::Add(dst[r * dstPitch], a[r * aPitch], b[r * bPitch], static_cast<int32_t>(lanes));
    } else {
      AscendC::Mul(dst[r * dstPitch], a[r * aPitch], b[r * bPitch], static_cast<int32_t>(lanes));
    }
  }
}

struct Folded {
  LocalTensor<float> lanes;
  uint32_t pitch;
  uint32_t width;
};

// Adds the right half of each row to its left half, in units of `unit` lanes, until a row is at
// most `stop` lanes wide: a tree whose shape depends on `width` alone. An odd unit of many joins the
// first one; of few it stays in the middle for the next round, which is one instruction less. scratch
// takes rows * width / 2 lanes; it may be src when rows == 1.
__aicore__ inline Folded FoldRows(const LocalTensor<float>& src, uint32_t pitch, uint32_t width,
                                  uint32_t unit, uint32_t stop, uint32_t rows,
                                  const LocalTensor<float>& scratch) {
  constexpr uint32_t kFewUnits = 32;
  Folded f{src, pitch, width};
  const uint32_t scratchPitch = width / unit / 2 * unit;
  for (bool first = true; f.width > stop; first = false) {
    const uint32_t half = f.width / unit / 2 * unit;
    const bool odd = f.width > 2 * half;
    const bool stays = odd && !first && f.width <= kFewUnits * unit;
    const uint32_t kept = stays ? half + unit : half;
    ForRows<Op::kAdd>(scratch, scratchPitch, f.lanes, f.pitch, f.lanes[kept], f.pitch, rows, half);
    PipeBarrier<PIPE_V>();
    if (odd && !stays) {
      ForRows<Op::kAdd>(scratch, scratchPitch, scratch, scratchPitch, f.lanes[2 * half], f.pitch,
                        rows, unit);
      PipeBarrier<PIPE_V>();
    }
    f = Folded{scratch, scratchPitch, kept};
  }
  return f;
}

// As FoldRows for one long row, whose halves start in different bank groups of UB where `unit` allows:
// what lies between them waits for the next round. The last unit may be shorter. scratch takes half of
// the row in whole units and 128 lanes more; it may be src.
__aicore__ inline Folded FoldRow(const LocalTensor<float>& src, uint32_t width, uint32_t unit,
                                 uint32_t stop, const LocalTensor<float>& scratch) {
  constexpr uint32_t kLongLanes = 512;  // shorter ones want few rounds more
  Folded f{src, width, width};
  while (f.width > stop) {
    uint32_t kept = CeilDiv(f.width, 2 * unit) * unit;
    if (f.width > kLongLanes && kRepeatLanes % unit == 0) {
      kept = AlignUp(kept + kRepeatLanes, 2 * kRepeatLanes) - kRepeatLanes;
    }
    const uint32_t added = f.width - kept;
    AscendC::Add(scratch, f.lanes, f.lanes[kept], static_cast<int32_t>(added));
    if (kept > added && scratch.GetPhyAddr() != f.lanes.GetPhyAddr()) {
      AscendC::DataCopy(scratch[added], f.lanes[added], kept - added);
    }
    PipeBarrier<PIPE_V>();
    f = Folded{scratch, kept, kept};
  }
  return f;
}

// y[u, r, :] *= sums[u, :]. Narrow rows: eight at a time, one block of each, of one slab where these
// are few and else of all of them. Others: slab by slab or row by row of all slabs, whichever
// repeats further per instruction.
__aicore__ inline void ScaleSlabs(const LocalTensor<float>& y, uint32_t rows, uint32_t pitch,
                                  const Folded& sums, uint32_t slabs) {
  constexpr uint32_t kFewSlabs = 8;
  const uint32_t slab = rows * pitch;
  const uint32_t step = pitch / kBlockLanes;
  const uint32_t slabStep = slab / kBlockLanes;
  const bool narrow = step * CeilDiv(rows, kRepeatBlocks) < rows;
  if (narrow && slabs <= kFewSlabs) {
    const uint32_t rest = rows % kRepeatBlocks;
    const uint32_t full = rows - rest;
    const bool atOnce = rest > 0 && slabs >= 4 && step <= 2 && slabStep <= kMaxRepeatStride &&
                        sums.pitch <= kMaxRepeatStride * kBlockLanes;
    for (uint32_t c = 0; c < pitch; c += kBlockLanes) {
      for (uint32_t u = 0; u < slabs; ++u) {
        const LocalTensor<float> blocks = y[u * slab + c];
        ForBlocks<Op::kMul>(blocks, step, blocks, step, sums.lanes[u * sums.pitch + c], 0,
                            atOnce ? full : rows);
      }
    }
    for (uint32_t c = 0; atOnce && c < pitch; c += kBlockLanes) {  // what eight rows leave
      const BinaryRepeatParams p(Bits8(step), Bits8(step), 0, Bits8(slabStep), Bits8(slabStep),
                                 Bits8(sums.pitch / kBlockLanes));
      const LocalTensor<float> blocks = y[full * pitch + c];
      Repeat<Op::kMul>(blocks, blocks, sums.lanes[c], rest * kBlockLanes, slabs, p);
    }
  } else if (narrow && slabStep <= kMaxRepeatStride) {
    const BinaryRepeatParams p(Bits8(step), Bits8(step), 0, Bits8(slabStep), Bits8(slabStep),
                               Bits8(sums.pitch / kBlockLanes));
    for (uint32_t r = 0; r < rows; r += kRepeatBlocks) {
      for (uint32_t c = 0; c < pitch; c += kBlockLanes) {
        const LocalTensor<float> blocks = y[r * pitch + c];
        Repeat<Op::kMul>(blocks, blocks, sums.lanes[c], Min(kRepeatBlocks, rows - r) * kBlockLanes,
                         slabs, p);
      }
    }
  } else if (rows >= slabs) {
    for (uint32_t u = 0; u < slabs; ++u) {
      ForRows<Op::kMul>(y[u * slab], pitch, y[u * slab], pitch, sums.lanes[u * sums.pitch], 0, rows,
                        pitch);
    }
  } else {
    for (uint32_t r = 0; r < rows; ++r) {
      ForRows<Op::kMul>(y[r * pitch], slab, y[r * pitch], slab, sums.lanes, sums.pitch, slabs,
                        pitch);
    }
  }
}

#if OP_KERNEL_NO_FLOAT_REDUCE
// As SumBlocks, for up to 128 rows; sums beyond them hold anything. spare: the lanes of 256 blocks.
__aicore__ inline void SumTurnedBlocks(const LocalTensor<float>& sums,
                                       const LocalTensor<float>& src, uint32_t apart, uint32_t rows,
                                       const LocalTensor<float>& spare) {
  const LocalTensor<float> blocks = spare;
  const LocalTensor<float> turned = spare[kTurnLanes];
  if (rows < kTurnRows) {
    AscendC::Duplicate(blocks, 0.0F, static_cast<int32_t>(kTurnLanes));
    PipeBarrier<PIPE_V>();
  }
  AscendC::DataCopy(
      blocks, src,
      AscendC::DataCopyParams(static_cast<uint16_t>(rows), 1, static_cast<uint16_t>(apart - 1), 0));
  PipeBarrier<PIPE_V>();
  BlocksToLanesByWords(blocks, blocks, turned);
  for (uint32_t lanes = kBlockLanes / 2; lanes > 1; lanes /= 2) {
    const bool odd = lanes == kBlockLanes / 2;
    const LocalTensor<float> from = odd ? blocks : turned;
    ForRows<Op::kAdd>(odd ? turned : blocks, kTurnRows, from, 2 * kTurnRows, from[kTurnRows],
                      2 * kTurnRows, lanes, kTurnRows);
    PipeBarrier<PIPE_V>();
  }
  AscendC::Add(sums, blocks, blocks[kTurnRows], static_cast<int32_t>(kTurnRows));
}
#endif

// sums[r] = sum of the 8 lanes at src[8 apart r], neighbours first. spare: where fp32 has no reductions, what
// SumTurnedBlocks wants of several rows.
__aicore__ inline void SumBlocks(const LocalTensor<float>& sums, const LocalTensor<float>& src,
                                 uint32_t apart, uint32_t rows, const LocalTensor<float>& spare) {
#if OP_KERNEL_NO_FLOAT_REDUCE
  if (rows == 1) {
    PipeBarrier<PIPE_ALL>();  // from here to the end of the branch the scalar unit works
    float lanes[kBlockLanes];
    for (uint32_t i = 0; i < kBlockLanes; ++i) {
      lanes[i] = src.GetValue(i);
    }
    sums.SetValue(0, ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
    PipeBarrier<PIPE_ALL>();
    return;
  }
  for (uint32_t r = 0; r < rows; r += kTurnRows) {
    SumTurnedBlocks(sums[r], src[r * apart * kBlockLanes], apart, Min(kTurnRows, rows - r), spare);
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

// sums[r] = sum of src[r, 0:width]; width is a multiple of 8, lanes that pad a row hold zeros. The
// order of additions depends on width alone. scratch: rows * max(8, width / 2) lanes; may be src
// when rows == 1. spare: as in SumBlocks.
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
  const Folded f = FoldRows(src, pitch, width, kBlockLanes, kBlockLanes, rows, scratch);
  SumBlocks(sums, f.lanes, f.pitch / kBlockLanes, rows, spare);
#else
  const Folded f = FoldRows(src, pitch, width, kBlockLanes, kRepeatLanes, rows, scratch);
  for (uint32_t r = 0; r < rows; r += kMaxRepeat) {
    AscendC::WholeReduceSum<float>(sums[r], f.lanes[r * f.pitch], static_cast<int32_t>(f.width),
                                   static_cast<int32_t>(Min(kMaxRepeat, rows - r)), 1, 1,
                                   static_cast<int32_t>(f.pitch / kBlockLanes));
  }
#endif
}

// blocks[8 r : 8 r + 8] = sums[r]. Brcb reads eight sums per repeat, so sums holds a multiple of 8; where there is
// none, SpreadByWords says what they hold.
__aicore__ inline void SpreadSums(const LocalTensor<float>& blocks, const LocalTensor<float>& sums,
                                  uint32_t rows) {
#if OP_KERNEL_NO_BRCB
  SpreadByWords(blocks, sums, rows);
#else
  AscendC::Brcb(blocks, sums, Bits8(CeilDiv(rows, kRepeatBlocks)),
                AscendC::BrcbRepeatParams(1, kRepeatBlocks));
#endif
}

// a[r, 0:width] *= s[r], where blocks is s after SpreadSums: a source block stride of 0 repeats
// s[r] over the row. Of one row, a holds whole repeats.
__aicore__ inline void ScaleRows(const LocalTensor<float>& a, uint32_t pitch, uint32_t width,
                                 const LocalTensor<float>& blocks, uint32_t rows) {
  const uint32_t step = pitch / kBlockLanes;
  if (width <= kShortRowLanes && rows > 1) {
    for (uint32_t c = 0; c < width; c += kBlockLanes) {
      ForBlocks<Op::kMul>(a[c], step, a[c], step, blocks, 1, rows);
    }
    return;
  }
  if (step <= kMaxRepeatStride && CeilDiv(width, kRepeatLanes) <= rows && rows > 1) {
    const BinaryRepeatParams p(1, 1, 0, Bits8(step), Bits8(step), 1);
    for (uint32_t c = 0; c < width; c += kRepeatLanes) {
      Repeat<Op::kMul>(a[c], a[c], blocks, Min(kRepeatLanes, width - c), rows, p);
    }
    return;
  }
  const BinaryRepeatParams p(1, 1, 0, kRepeatBlocks, kRepeatBlocks, 0);
  // Of one row, what lies behind it in its last repeat is multiplied as well.
  const uint32_t full = rows == 1 ? CeilDiv(width, kRepeatLanes) : width / kRepeatLanes;
  const uint32_t rest = rows == 1 ? 0 : width % kRepeatLanes;
  for (uint32_t r = 0; r < rows; ++r) {
    const uint32_t at = r * pitch;
    Repeat<Op::kMul>(a[at], a[at], blocks[r * kBlockLanes], kRepeatLanes, full, p);
    if (rest > 0) {
      const uint32_t tail = at + full * kRepeatLanes;
      Repeat<Op::kMul>(a[tail], a[tail], blocks[r * kBlockLanes], rest, 1, p);
    }
  }
}

// rows[r, length:padded] = 0 for rows `pitch` lanes apart; padded - length < 16.
__aicore__ inline void ZeroPads(const LocalTensor<float>& rows, uint32_t pitch, uint32_t length,
                                uint32_t padded, uint32_t count) {
  if (length == padded) {
    return;
  }
  const uint32_t first = length / kBlockLanes * kBlockLanes;
  uint64_t mask[2] = {((1ull << (padded - first)) - 1) & ~((1ull << (length - first)) - 1), 0};
  const uint32_t blocks = pitch / kBlockLanes;
  const bool atOnce = blocks <= kMaxRepeatStride;
  const uint32_t step = atOnce ? kMaxRepeat : 1;
  for (uint32_t r = 0; r < count; r += step) {
    AscendC::Duplicate(rows[r * pitch + first], 0.0F, mask, Bits8(Min(step, count - r)), 1,
                       Bits8(atOnce ? blocks : 0));
  }
}

// a[r, 0:lanes] = 0 for rows `pitch` lanes apart; both are whole blocks.
__aicore__ inline void ZeroColumns(const LocalTensor<float>& a, uint32_t pitch, uint32_t lanes,
                                   uint32_t rows) {
  const uint32_t blocks = pitch / kBlockLanes;
  const uint32_t step = blocks <= kMaxRepeatStride ? kMaxRepeat : 1;
  for (uint32_t r = 0; r < rows; r += step) {
    const uint32_t count = Min(step, rows - r);
    for (uint32_t c = 0; c < lanes; c += kRepeatLanes) {
      AscendC::Duplicate(a[r * pitch + c], 0.0F,
                         static_cast<uint64_t>(Min(kRepeatLanes, lanes - c)), Bits8(count), 1,
                         Bits8(count > 1 ? blocks : 0));
    }
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_LANES_H_
