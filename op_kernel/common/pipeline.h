// SPDX-License-Identifier: Apache-2.0
// How data moves: copies of rows of any length between GM and UB, where each row starts on a block of 32 bytes, and the loop
// that overlaps them with arithmetic.
//
// The loop "full load": a tile holds all that its results need, so each byte of GM moves once.
//
//   MTE2 loads tile t + 1 | VECTOR works on tile t | MTE3 stores tile t - 1
//
// A Layout says what a tile is and what becomes of it:
//   Element                     what the tensors hold
//   tiles, ub                   the tiles of this core; the buffers
//   Init(pipe, loop)            makes the buffers but `in` and `out`
//   Load(loop, tile)            copies the operands of a tile to loop.AllocIn() and hands that over: loop.EnQueIn(in)
//   Compute(loop, tile, in)     puts results into loop.AllocOut(), hands them over, loop.EnQueOut(out), and gives the
//                               operands' buffer back: loop.FreeIn(in)
//   Store(out, tile)            copies the results to GM
// The queues order the pipes. Where they do not order two instructions, both are of VECTOR, and PipeBarrier<PIPE_V>
// stands between them.
#ifndef OP_KERNEL_COMMON_PIPELINE_H_
#define OP_KERNEL_COMMON_PIPELINE_H_

#include "common/vector_ops.h"

namespace common {

// Rows is what a copy moves.
struct Rows {
  uint32_t count;
  uint32_t length;    // elements of a row
  uint64_t distance;  // elements between the starts of two rows in GM
};

constexpr uint32_t kMaxRowsPerCopy = 4095;
constexpr uint64_t kMaxGapBytes = 0xFFFFFFFFull;

}  // namespace common

#if OP_KERNEL_WHOLE_BLOCKS_ONLY
#include "common/legacy.h"
#else

namespace common {

// Joined makes one row of rows that follow each other in GM and in UB.
__aicore__ inline Rows Joined(const Rows& rows, uint32_t pitch) {
  if (pitch == rows.length && rows.distance == rows.length) {
    return Rows{1, rows.length * rows.count, rows.distance * rows.count};
  }
  return rows;
}

// A long copy takes more than a quarter longer where it does not start on 512 bytes (CANN's guide; the model charges
// what starts off 256). ElementsToAlign says how many elements are better copied by themselves, so that the rest starts well:
// 0 where the rest would not start on a block in UB. `lead` is the element of a block of UB on which the first row starts.
template <typename T>
__aicore__ inline uint32_t ElementsToAlign(const GlobalTensor<T>& gm, uint64_t offset,
                                           const Rows& rows, uint32_t lead = 0) {
  const uint64_t address = reinterpret_cast<uint64_t>(gm.GetPhyAddr(offset));
  const uint32_t before = static_cast<uint32_t>((kLineBytes - address % kLineBytes) % kLineBytes);
  const uint64_t bytes = static_cast<uint64_t>(rows.length) * sizeof(T);
  return !kRegisters && rows.count == 1 && (lead * sizeof(T) + before) % kBlockBytes == 0 &&
                 bytes >= before + kMinSplitBytes
             ? before / static_cast<uint32_t>(sizeof(T))
             : 0;
}

// RowsAtOnce is how many rows one DataCopyPad moves: a single one where no instruction can express the gap behind it.
template <typename T>
__aicore__ inline uint32_t RowsAtOnce(const Rows& rows) {
  const bool far = rows.count > 1 && (rows.distance - rows.length) * sizeof(T) > kMaxGapBytes;
  return far ? 1 : kMaxRowsPerCopy;
}

// CopyOf describes a DataCopyPad of `count` rows. A gap counts bytes in GM and blocks in UB.
template <typename T>
__aicore__ inline AscendC::DataCopyExtParams CopyOf(const Rows& rows, uint32_t count,
                                                    uint32_t pitch, bool toUb) {
  const uint32_t gm =
      count > 1 ? static_cast<uint32_t>((rows.distance - rows.length) * sizeof(T)) : 0;
  const uint32_t ub = count > 1 ? (pitch - WholeBlocks<T>(rows.length)) / kBlockElements<T> : 0;
  return {static_cast<uint16_t>(count), rows.length * static_cast<uint32_t>(sizeof(T)),
          toUb ? gm : ub, toUb ? ub : gm, 0};
}

// Copies `length` elements at once, of which the first comes to lie on element `lead` of a block in UB. Zeros fill the block
// in front of them and, if `fills`, behind them.
template <typename T>
__aicore__ inline void CopyRowOnce(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                   uint64_t offset, uint32_t length, uint32_t lead, bool fills) {
  const uint32_t behind = fills ? WholeBlocks<T>(lead + length) - lead - length : 0;
  AscendC::DataCopyPad(
      dst, src[offset],
      AscendC::DataCopyExtParams(1, length * static_cast<uint32_t>(sizeof(T)), 0, 0, 0),
      AscendC::DataCopyPadExtParams<T>(fills || lead > 0, static_cast<uint8_t>(lead),
                                       static_cast<uint8_t>(behind), static_cast<T>(0)));
}

// Copies a row, or rows that follow each other, as CopyRowOnce does: in two copies where it is long and does not start well.
template <typename T>
__aicore__ inline void CopyRowIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                                 uint64_t offset, uint32_t length, uint32_t lead) {
  const uint32_t first = ElementsToAlign(src, offset, Rows{1, length, length}, lead);
  if (first == 0) {
    CopyRowOnce(dst, src, offset, length, lead, true);
    return;
  }
  CopyRowOnce(dst, src, offset, first, lead, false);
  CopyRowOnce(dst[lead + first], src, offset + first, length - first, 0, true);
}

// Copies rows, which lie `pitch` elements apart in UB, at least WholeBlocks. Zeros fill the last block of each.
template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                              uint64_t offset, const Rows& rows, uint32_t pitch) {
  const Rows joined = Joined(rows, pitch);
  if (joined.count == 1) {
    CopyRowIn(dst, src, offset, joined.length, 0);
    return;
  }
  const uint8_t behind = static_cast<uint8_t>(WholeBlocks<T>(joined.length) - joined.length);
  const AscendC::DataCopyPadExtParams<T> pad(true, 0, behind, static_cast<T>(0));
  const uint32_t most = RowsAtOnce<T>(joined);
  for (uint32_t done = 0; done < joined.count; done += most) {
    AscendC::DataCopyPad(dst[done * pitch], src[offset + done * joined.distance],
                         CopyOf<T>(joined, Min(joined.count - done, most), pitch, true), pad);
  }
}

template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T>& dst, uint64_t offset,
                               const LocalTensor<T>& src, const Rows& rows, uint32_t pitch) {
  const Rows joined = Joined(rows, pitch);
  const uint32_t most = RowsAtOnce<T>(joined);
  for (uint32_t done = 0; done < joined.count; done += most) {
    AscendC::DataCopyPad(dst[offset + done * joined.distance], src[done * pitch],
                         CopyOf<T>(joined, Min(joined.count - done, most), pitch, false));
  }
}

// The next four functions do less than those of legacy.h, or nothing: lanes that pad a row hold
// zeros here, and a copy ends on any byte.
__aicore__ inline void ClearPads(const LocalTensor<float>&, uint32_t, uint32_t, uint32_t,
                                 uint32_t) {}

template <typename T>
__aicore__ inline void MakeTails(const LocalTensor<T>&, const LocalTensor<T>&, uint32_t, uint32_t,
                                 uint32_t, const LocalTensor<float>&) {}

template <typename T>
__aicore__ inline void CopyOutWithTails(const GlobalTensor<T>& dst, uint64_t offset,
                                        const LocalTensor<T>& src, const Rows& rows, uint32_t pitch,
                                        const LocalTensor<T>&) {
  CopyOut(dst, offset, src, rows, pitch);
}

template <bool toPositions>
__aicore__ inline void TransposeByWords(const LocalTensor<float>&, const LocalTensor<float>&,
                                        uint32_t, const LocalTensor<float>&) {}

// blocks[8 r : 8 r + 8] = sums[r]. Brcb reads eight sums in a repeat, so `sums` holds a multiple of 8.
__aicore__ inline void SpreadSums(const LocalTensor<float>& blocks, const LocalTensor<float>& sums,
                                  uint32_t rows) {
  AscendC::Brcb(blocks, sums, Bits8(CeilDiv(rows, kRepeatBlocks)),
                AscendC::BrcbRepeatParams(1, kRepeatBlocks));
}

}  // namespace common

#endif  // OP_KERNEL_WHOLE_BLOCKS_ONLY

namespace common {

template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                              uint64_t offset, uint32_t length) {
  CopyIn(dst, src, offset, Rows{1, length, length}, WholeBlocks<T>(length));
}

template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T>& dst, uint64_t offset,
                               const LocalTensor<T>& src, uint32_t length) {
  CopyOut(dst, offset, src, Rows{1, length, length}, WholeBlocks<T>(length));
}

// CopyRowOut is the way back of CopyRowIn. A copy reads UB from a block on, so the first
// results lie once more on a block of their own, behind the last one.
template <typename T>
__aicore__ inline void CopyRowOut(const GlobalTensor<T>& dst, uint64_t offset,
                                  const LocalTensor<T>& src, uint32_t length, uint32_t lead) {
  const uint32_t first = Min(kBlockElements<T> - lead, length);
  CopyOut(dst, offset, src[WholeBlocks<T>(lead + length)], first);
  if (first < length) {
    CopyOut(dst, offset + first, src[kBlockElements<T>], length - first);
  }
}

// HintTile makes the first `bypassing` tiles of a core bypass L2. It is called before the copy of each
// tile.
template <typename T>
__aicore__ inline void HintTile(GlobalTensor<T>& gm, int64_t tile, int64_t bypassing) {
  if (bypassing > 0 && (tile == 0 || tile == bypassing)) {
    gm.SetL2CacheHint(tile == 0 ? AscendC::CacheMode::CACHE_MODE_DISABLE
                                : AscendC::CacheMode::CACHE_MODE_NORMAL);
  }
}

// CoreTiles says which units a core has (rows, slabs, column tiles or elements), and how tiles cut them.
struct CoreTiles {
  int64_t first;
  int64_t last;            // behind the last one
  int64_t tileUnits;       // most units of a tile
  int64_t alignUnits = 1;  // each tile but the first starts on a multiple of this unit number
  int64_t leastUnits = 0;  // fewest units of the last tile
};

struct Tile {
  int64_t unit;  // the first one
  uint32_t units;
};

template <typename Layout>
class FullLoad {
  using T = typename Layout::Element;

 public:
  // The order of the buffers decides which of them lie in one bank group of UB.
  __aicore__ inline FullLoad(TPipe* pipe, Layout& layout) : tiles_(layout.tiles), layout_(layout) {
    pipe->InitBuffer(outQueue_, static_cast<uint8_t>(layout.ub.out.count), layout.ub.out.bytes);
    pipe->InitBuffer(inQueue_, static_cast<uint8_t>(layout.ub.in.count), layout.ub.in.bytes);
    layout.Init(pipe, *this);
  }

  // Sets all inputs to zero, for layouts whose instructions read lanes that no copy writes.
  __aicore__ inline void ZeroInputs(uint32_t bytes) {
    for (uint32_t i = 0; i < layout_.ub.in.count; ++i) {
      LocalTensor<T> in = inQueue_.template AllocTensor<T>();
      AscendC::Duplicate(in.template ReinterpretCast<float>(), 0.0F,
                         static_cast<int32_t>(bytes / sizeof(float)));
      inQueue_.FreeTensor(in);
    }
    PipeBarrier<PIPE_V>();
  }

  // Process issues the copies of a tile before the arithmetic of the tile in front of it: SCALAR
  // cannot issue them while the queue of VECTOR is full.
  __aicore__ inline void Process() {
    if (tiles_.first >= tiles_.last) {
      return;
    }
    Tile next = Load(tiles_.first);
    for (;;) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      const Tile tile = next;
      const int64_t end = tile.unit + tile.units;
      if (end < tiles_.last) {
        next = Load(end);
      }
      layout_.Compute(*this, tile, in);
      LocalTensor<T> out = outQueue_.template DeQue<T>();
      layout_.Store(out, tile);
      outQueue_.FreeTensor(out);
      if (end >= tiles_.last) {
        return;
      }
    }
  }

  __aicore__ inline LocalTensor<T> AllocIn() { return inQueue_.template AllocTensor<T>(); }
  __aicore__ inline void EnQueIn(LocalTensor<T>& in) { inQueue_.EnQue(in); }
  __aicore__ inline void FreeIn(LocalTensor<T>& in) { inQueue_.FreeTensor(in); }
  __aicore__ inline LocalTensor<T> AllocOut() { return outQueue_.template AllocTensor<T>(); }
  __aicore__ inline void EnQueOut(LocalTensor<T>& out) { outQueue_.EnQue(out); }

 private:
  // Enqueues the operands of the tile that starts with `unit`.
  __aicore__ inline Tile Load(int64_t unit) {
    const int64_t rest = tiles_.last - unit;
    int64_t units = Min(rest, tiles_.tileUnits - unit % tiles_.alignUnits);
    if (units < rest && rest - units < tiles_.leastUnits) {
      units -= tiles_.leastUnits;
    }
    const Tile tile{unit, static_cast<uint32_t>(units)};
    layout_.Load(*this, tile);
    return tile;
  }

  const CoreTiles tiles_;
  Layout& layout_;
  TQue<TPosition::VECIN, 1> inQueue_;
  TQue<TPosition::VECOUT, 1> outQueue_;
};

template <typename Layout>
__aicore__ inline void RunFullLoad(TPipe* pipe, Layout& layout) {
  FullLoad<Layout> loop(pipe, layout);
  loop.Process();
}

}  // namespace common

#endif  // OP_KERNEL_COMMON_PIPELINE_H_
