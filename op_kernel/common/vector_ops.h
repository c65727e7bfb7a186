// SPDX-License-Identifier: Apache-2.0
// What an architecture has, and vector instructions over matrices of fp32 in UB: rows at a pitch (the lanes from one row to the
// next), products of rows with one value each, and transpositions.
#ifndef OP_KERNEL_COMMON_VECTOR_OPS_H_
#define OP_KERNEL_COMMON_VECTOR_OPS_H_

#include "common/sizes.h"
#include "common/tuning.h"
#include "kernel_operator.h"

// Ascend310P and Ascend910 copy whole blocks of 32 bytes only (no DataCopyPad) and have no Brcb: legacy.h.
#if defined(__CCE_AICORE__) && __CCE_AICORE__ < 220
#define OP_KERNEL_WHOLE_BLOCKS_ONLY 1
#else
#define OP_KERNEL_WHOLE_BLOCKS_ONLY 0
#endif
// Ascend910 has no WholeReduceSum and BlockReduceSum of fp32, and transposes 16-bit words only.
#if defined(__CCE_AICORE__) && __CCE_AICORE__ == 100
#define OP_KERNEL_NO_FLOAT_REDUCE 1
#else
#define OP_KERNEL_NO_FLOAT_REDUCE 0
#endif
// Ascend 950 has vector functions: instructions on registers between a load from UB and a store.
#if defined(__NPU_ARCH__) && __NPU_ARCH__ == 3510
#define OP_KERNEL_REGISTERS 1
#else
#define OP_KERNEL_REGISTERS 0
#endif

namespace common {

using AscendC::BinaryRepeatParams;
using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::PipeBarrier;
using AscendC::RoundMode;
using AscendC::TBuf;
using AscendC::TPipe;
using AscendC::TPosition;
using AscendC::TQue;

constexpr bool kWholeBlocksOnly = OP_KERNEL_WHOLE_BLOCKS_ONLY != 0;
constexpr bool kRegisters = OP_KERNEL_REGISTERS != 0;
// SoCs before 2201 have another name for rounding float to half to nearest even.
constexpr RoundMode kToNearestEven = kWholeBlocksOnly ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;

constexpr uint32_t kMaxRepeatStride = 255;  // blocks from one repeat to the next

template <typename T>
constexpr uint32_t kBlockElements = kBlockBytes / sizeof(T);

// WholeBlocks rounds `length` elements up to whole blocks.
template <typename T>
__aicore__ inline uint32_t WholeBlocks(uint32_t length) {
  return AlignUp(length, kBlockElements<T>);
}

// Bits8 is for repeats and repeat strides, which have 8 bits. What a function does not bound
// itself, the tiling does; a debug build on the CPU stops where neither has.
__aicore__ inline uint8_t Bits8(uint32_t value) {
  ASCENDC_ASSERT((value <= kMaxRepeat), {
    KERNEL_LOG(KERNEL_ERROR, "%u does not fit the 8 bits of an instruction's repeat", value);
  });
  return static_cast<uint8_t>(value);
}

template <typename B>
__aicore__ inline uint64_t AddressOf(const LocalTensor<B>& tensor) {
  return reinterpret_cast<uint64_t>(tensor.GetPhyAddr());
}

enum class Op { kAdd, kMul };

// dst = a op b for `repeats` repeats; instructions take 255 of them. The mask counts lanes or has a bit for each.
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

// dst[r] = a[r] op b[r] for blocks of 8 lanes that lie `*Step` blocks apart: a repeat takes eight rows.
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

// dst[r, 0:lanes] = a[r, 0:lanes] op b[r, 0:lanes]. Pitches are multiples of 8 lanes; a pitch of 0 uses one row for all.
// An instruction takes 64 columns of all rows, or one row.
template <Op op>
__aicore__ inline void ForRows(const LocalTensor<float>& dst, uint32_t dstPitch,
                               const LocalTensor<float>& a, uint32_t aPitch,
                               const LocalTensor<float>& b, uint32_t bPitch, uint32_t rows,
                               uint32_t lanes) {
  constexpr uint32_t kMaxPitch = kMaxRepeatStride * kBlockLanes;
  // An instruction for 64 columns writes between those of the one before it, and waits for that one. So it pays where there
  // is only one, or where each row would take a part of a repeat besides.
  const uint32_t columns = CeilDiv(lanes, kRepeatLanes);
  const bool byColumns = dstPitch <= kMaxPitch && aPitch <= kMaxPitch && bPitch <= kMaxPitch &&
                         (columns == 1 || (lanes % kRepeatLanes > 0 && rows >= 2 * columns));
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

// Matrix is a matrix in UB, whose rows have `width` lanes.
struct Matrix {
  LocalTensor<float> lanes;
  uint32_t pitch;
  uint32_t width;
};

// y[u, r, :] *= sums[u, :]. Narrow rows are taken eight at a time, a block of each: of one slab where there are few
// slabs, else of all of them. Other rows are taken slab by slab or row by row of all slabs, whichever repeats
// further in one instruction.
__aicore__ inline void ScaleSlabs(const LocalTensor<float>& y, uint32_t rows, uint32_t pitch,
                                  const Matrix& sums, uint32_t slabs) {
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
    // One instruction takes the rows that groups of eight leave over, of all slabs.
    for (uint32_t c = 0; atOnce && c < pitch; c += kBlockLanes) {
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

// a[r, 0:width] *= s[r], where `blocks` is s after SpreadSums. A source block stride of 0 repeats
// s[r] over its row. A single row has to be whole repeats of lanes.
__aicore__ inline void ScaleRows(const LocalTensor<float>& a, uint32_t pitch, uint32_t width,
                                 const LocalTensor<float>& blocks, uint32_t rows) {
  const uint32_t step = pitch / kBlockLanes;
  // A repeat for a block of each of eight rows takes an instruction for each block of a row, and each waits for the one before
  // it. A repeat for each row is one instruction.
  if (width <= kShortRowLanes &&
      rows > width / kBlockLanes * (rows / kRepeatBlocks + kDrainCycles)) {
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
  // A single row is multiplied to the end of its last repeat.
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

// The functions below transpose 16 streams of elements in UB, each of which starts on a block, by
// TransDataTo5HD in the form that takes addresses. (CANN's CPU debug check of the form with tensors
// wants a whole repeat stride behind the last repeat.)

// positions[16 p + i] = streams[i * pitch + p] for `length` positions, which are whole blocks of a stream. Where there are
// fewer than 16 streams, the last one stands for those that are missing.
template <typename B>
__aicore__ inline void StreamsToLanes(const LocalTensor<B>& positions,
                                      const LocalTensor<B>& streams, uint32_t length,
                                      uint32_t pitch, uint32_t count = kStreams) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  uint64_t to[kStreams];
  uint64_t from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = AddressOf(positions[i * kElements]);
    from[i] = AddressOf(streams[Min(i, count - 1) * pitch]);
  }
  const uint32_t repeats = length / kElements;
  const bool one = repeats == 1;  // strides would shift the start of a single repeat
  AscendC::TransDataTo5HD<B>(
      to, from,
      AscendC::TransDataTo5HDParams(false, false, Bits8(repeats),
                                    static_cast<uint16_t>(one ? 0 : kStreams),
                                    static_cast<uint16_t>(one ? 0 : 1)));
}

// lanes[128 g + 16 p + i] = blocks[128 g + 8 i + p]: 16 blocks of fp32 each become 8 vectors of 16 lanes.
__aicore__ inline void BlocksToLanes(const LocalTensor<float>& lanes,
                                     const LocalTensor<float>& blocks, uint32_t groups) {
  uint64_t to[kStreams];
  uint64_t from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = AddressOf(lanes[i * kBlockLanes]);
    from[i] = AddressOf(blocks[i * kBlockLanes]);
  }
  const uint16_t apart = groups == 1 ? 0 : kStreams;  // as in StreamsToLanes
  AscendC::TransDataTo5HD<float>(
      to, from, AscendC::TransDataTo5HDParams(false, false, Bits8(groups), apart, apart));
}

// GroupsToStreams is the way back, for `groups` groups of 16 positions. One instruction makes as many streams as a block has
// elements.
template <typename B>
__aicore__ inline void GroupsToStreams(const LocalTensor<B>& streams,
                                       const LocalTensor<B>& positions, uint32_t groups,
                                       uint32_t pitch, uint32_t count) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  // Blocks of a position, and of 16 elements of a stream.
  constexpr uint32_t kBlocks = kStreams / kElements;
  const bool one = groups == 1;
  for (uint32_t first = 0; first < count; first += kElements) {
    uint64_t to[kStreams];
    uint64_t from[kStreams];
    for (uint32_t i = 0; i < kStreams; ++i) {
      const uint32_t stream = Min(first + i / kBlocks, count - 1);
      to[i] = AddressOf(streams[stream * pitch + i % kBlocks * kElements]);
      from[i] = AddressOf(positions[i * kStreams + first]);
    }
    AscendC::TransDataTo5HD<B>(
        to, from,
        AscendC::TransDataTo5HDParams(false, false, Bits8(groups),
                                      static_cast<uint16_t>(one ? 0 : kBlocks),
                                      static_cast<uint16_t>(one ? 0 : kStreams * kBlocks)));
  }
}

// streams[i * pitch + p] = positions[16 p + i] for `length` positions, 16 or more. Where there are fewer than 16 streams, the
// positions of the last one and of those that are missing hold the same.
template <typename B>
__aicore__ inline void LanesToStreams(const LocalTensor<B>& streams,
                                      const LocalTensor<B>& positions, uint32_t length,
                                      uint32_t pitch, uint32_t count = kStreams) {
  GroupsToStreams(streams, positions, length / kStreams, pitch, count);
  if (length % kStreams != 0) {  // the last 16 positions, some of them once more
    const uint32_t last = length - kStreams;
    PipeBarrier<PIPE_V>();
    GroupsToStreams(streams[last], positions[last * kStreams], 1, pitch, count);
  }
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_VECTOR_OPS_H_
