// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for short slabs [R, B] whose rows, of one column or several, are no
// whole blocks of 32 bytes: copied row by row, each would move a whole GM line for a few bytes.
//
// A tile is 16 streams of as many whole slabs each. TransDataTo5HD turns them into 16 lanes of a block: element p of
// stream i becomes lane i of position p, and a slab [R, 16 B]. Those of rows (B == 1) are added up in the order of
// PackedRows, others as slabs are. The way back turns the result into slabs as they lie in GM.
//
// A stream is whole blocks of 32 bytes long in UB, at least 16 elements. Where its slabs are that too, a tile is one
// piece of GM; where so many slabs do not fit, each stream is a piece, and padded.
#ifndef OP_KERNEL_COMMON_SHORT_ROWS_H_
#define OP_KERNEL_COMMON_SHORT_ROWS_H_

#include "common/packed_rows.h"
#include "common/row_reduce.h"
#include "common/transpose.h"

namespace rowreduce {

// dst[u, 0:lanes] = src[u, 0:lanes] + 0 for slabs at a pitch.
__aicore__ inline void CopyTerms(const LocalTensor<float>& dst, uint32_t dstPitch,
                                 const LocalTensor<float>& src, uint32_t srcPitch, uint32_t slabs,
                                 uint32_t lanes) {
  const uint32_t to = dstPitch / kBlockLanes;
  const uint32_t from = srcPitch / kBlockLanes;
  const bool narrow = IsNarrow(slabs, lanes) && Max(to, from) * kRepeatBlocks <= kMaxRepeatStride;
  const uint32_t most = Max(to, from) <= kMaxRepeatStride ? kMaxRepeat : 1;  // repeats
  const uint32_t atOnce =
      narrow ? kRepeatBlocks : 1;  // a block of each of eight slabs, or one slab
  const uint32_t step = narrow ? kBlockLanes : kRepeatLanes;
  const AscendC::UnaryRepeatParams p(Bits8(narrow ? to : 1), Bits8(narrow ? from : 1),
                                     Bits8(most > 1 ? to * atOnce : 0),
                                     Bits8(most > 1 ? from * atOnce : 0));
  for (uint32_t u = 0; u < slabs;) {
    const uint32_t left = slabs - u;
    const uint32_t repeats = left < atOnce ? 1 : Min(most, left / atOnce);
    const uint32_t count = Min(left, repeats * atOnce);
    for (uint32_t c = 0; c < lanes; c += step) {
      const uint32_t mask =
          narrow ? Min(count, atOnce) * kBlockLanes : Min(kRepeatLanes, lanes - c);
      AscendC::Adds(dst[u * dstPitch + c], src[u * srcPitch + c], 0.0F, static_cast<uint64_t>(mask),
                    Bits8(repeats), p);
    }
    u += count;
  }
}

// Where the rows of a slab [R, 16] lie: some lanes may begin later than others, with zeros around them.
struct SlabLie {
  uint32_t rows;   // over which they lie
  uint32_t pitch;  // rows from one slab to the next
};

// The sums of `count` slabs, bit by bit those of rows of `length` elements on a circle (packed_rows.h), whose lanes
// are rows of a slab here: those a circle apart are added one after the other, then those half of it apart and so on.
// length > 1. Ends with `stop` of them, a power of two less than length. scratch: as many lanes as the slabs.
__aicore__ inline Folded SumSlabs(const LocalTensor<float>& slabs, uint32_t length, SlabLie lie,
                                  uint32_t count, const LocalTensor<float>& scratch,
                                  uint32_t stop = 1) {
  const uint32_t rows = lie.rows;
  const uint32_t circle = CircleLanes(length);
  const uint32_t width = Min(rows, circle);
  const uint32_t turned = rows > circle ? Min(circle, rows - circle) : 0;  // rows of the circle
  uint32_t half = 1;
  while (2 * half < width) {
    half *= 2;
  }
  const uint32_t slab = lie.pitch * kStreams;
  const uint32_t pitch = Max(half, turned) * kStreams;
  for (uint32_t at = circle; at < rows; at += circle) {
    const LocalTensor<float>& before = at == circle ? slabs : scratch;
    ForRows<Op::kAdd>(scratch, pitch, before, at == circle ? slab : pitch, slabs[at * kStreams],
                      slab, count, Min(circle, rows - at) * kStreams);
    PipeBarrier<PIPE_V>();
  }
  // The first halves, of what the turns have left where it lies.
  for (uint32_t row = 0; row < half;) {
    const bool left = row < turned;
    const bool right = row + half < turned;
    uint32_t end = right ? turned - half : left ? Min(turned, half) : half;
    const LocalTensor<float>& a = left ? scratch : slabs;
    if (row + half < width) {
      end = Min(end, width - half);
      const LocalTensor<float>& b = right ? scratch : slabs;
      ForRows<Op::kAdd>(scratch[row * kStreams], pitch, a[row * kStreams], left ? pitch : slab,
                        b[(row + half) * kStreams], right ? pitch : slab, count,
                        (end - row) * kStreams);
    } else {
      CopyTerms(scratch[row * kStreams], pitch, a[row * kStreams], left ? pitch : slab, count,
                (end - row) * kStreams);
    }
    row = end;
  }
  PipeBarrier<PIPE_V>();
  for (half /= 2; half >= stop; half /= 2) {
    ForRows<Op::kAdd>(scratch, pitch, scratch, pitch, scratch[half * kStreams], pitch, count,
                      half * kStreams);
    PipeBarrier<PIPE_V>();
  }
  if (stop == 1 && RowsAlike(length)) {  // their circle starts with zeros: no sum is -0
    CopyTerms(scratch, pitch, scratch, pitch, count, kStreams);
    PipeBarrier<PIPE_V>();
  }
  return Folded{scratch, pitch, stop * kStreams};
}

template <typename T, typename Step>
class ReduceShort : private RowOperands<T> {
 public:
  __aicore__ inline ReduceShort(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                const RowReduceTilingData& t, const Step& step)
      : RowOperands<T>(y, g, out, t),
        step_(step),
        reduce_(static_cast<uint32_t>(t.reduce)),
        columns_(static_cast<uint32_t>(t.inner)),
        most_(t.tileUnits),
        apart_(static_cast<uint32_t>(t.tileLanes)),
        whole_(IsWhole(static_cast<uint32_t>(t.tileUnits) / kStreams)) {
    // Not where a first tile of less than a block could not be stored.
    while (!kWholeBlocksOnly && whole_ && t.unitsPerCore > most_ &&
           this->slab_ * sizeof(T) * grid_ % kLineBytes != 0) {
      grid_ *= 2;
    }
    pipe->InitBuffer(inQueue_, kBuffers, static_cast<uint32_t>(2 * apart_ * sizeof(T)));
    pipe->InitBuffer(outQueue_, kBuffers, static_cast<uint32_t>(apart_ * sizeof(T)) + kTailBytes);
    pipe->InitBuffer(work_, static_cast<uint32_t>(2 * apart_ * sizeof(float)));
  }

  // As in WholeTiles, the next tile is loaded before a tile is computed.
  __aicore__ inline void Process() {
    int64_t unit = this->first_;
    int64_t end = Load(unit);
    while (unit < this->last_) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      const int64_t next = end;
      if (next < this->last_) {
        end = Load(next);
      }
      const uint32_t units = static_cast<uint32_t>(next - unit);
      Compute(units, in);
      LocalTensor<T> out = outQueue_.template DeQue<T>();
      this->HintResults();
      Store(unit, units, out);
      outQueue_.FreeTensor(out);
      unit = next;
    }
  }

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;
  static constexpr bool kByWords = kFp32 && OP_KERNEL_NO_FLOAT_REDUCE;
  static constexpr uint32_t kLeastStream = kWholeBlocksOnly ? kRowReduceLeastStream : kStreams;
  static constexpr int64_t kLeastStored = kBlockBytes / sizeof(T);
  // Of streams that end within a block, behind the results.
  static constexpr uint32_t kTailBytes = kWholeBlocksOnly ? kStreams * kBlockBytes : 0;

  __aicore__ inline static BlockShape Piece(uint32_t count) { return BlockShape{1, count, count}; }

  // Whether a stream of so many slabs is whole blocks, and long enough for the way back.
  __aicore__ inline bool IsWhole(uint32_t slabs) const {
    const uint32_t count = slabs * static_cast<uint32_t>(this->slab_);
    return count * sizeof(T) % kBlockBytes == 0 && count >= kLeastStream;
  }

  // Of a stream.
  __aicore__ inline uint32_t SlabsOf(uint32_t units) const {
    uint32_t slabs = CeilDiv(units, kStreams);
    while (whole_ && !IsWhole(slabs)) {
      ++slabs;
    }
    return slabs;
  }

  __aicore__ inline uint32_t LengthOf(uint32_t slabs) const {
    const uint32_t length =
        Max(kLeastStream, UbPitch<T>(slabs * static_cast<uint32_t>(this->slab_)));
    // Padded streams start in all bank groups of UB in turn.
    constexpr uint32_t kElements = kBlockBytes / sizeof(T);
    return whole_ || length / kElements % 2 == 1 ? length : length + kElements;
  }

  // Enqueues the tile that begins with slab `unit` and returns the slab behind it. Tiles but the first of a
  // core start on GM lines where they are one piece.
  __aicore__ inline int64_t Load(int64_t unit) {
    const int64_t most = most_ - unit % grid_;
    const int64_t rest = this->last_ - unit;
    int64_t left = rest < most ? rest : most;
    if (kWholeBlocksOnly && left < rest && (rest - left) * this->slab_ < kLeastStored) {
      left -= kLeastStored;  // what is left for the last tile is a block to store
    }
    const uint32_t units = static_cast<uint32_t>(left);
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    this->HintInputs();
    LoadStreams(in, this->yGm_, unit * this->slab_, units);
    LoadStreams(in[apart_], this->gGm_, unit * this->slab_, units);
    inQueue_.EnQue(in);
    return unit + left;
  }

  // Full streams, and what is left for the last one.
  __aicore__ inline void LoadStreams(const LocalTensor<T>& in, const GlobalTensor<T>& gm,
                                     uint64_t offset, uint32_t units) const {
    const uint32_t slab = static_cast<uint32_t>(this->slab_);
    if (whole_) {
      LoadBlocks(in, gm, offset, Piece(units * slab));
      return;
    }
    const uint32_t slabs = SlabsOf(units);
    const uint32_t length = LengthOf(slabs);
    const uint32_t full = units / slabs;
    LoadBlocks(in, gm, offset, BlockShape{full, slabs * slab, slabs * slab}, length);
    if (units % slabs > 0) {
      LoadBlocks(in[full * length], gm, offset + full * slabs * slab, Piece(units % slabs * slab));
    }
  }

  __aicore__ inline void Store(int64_t unit, uint32_t units, const LocalTensor<T>& out) {
    const uint32_t slab = static_cast<uint32_t>(this->slab_);
    const uint64_t offset = unit * this->slab_;
    if (whole_) {
      StoreBlocks(this->outGm_, offset, out, Piece(units * slab));
      return;
    }
    const uint32_t slabs = SlabsOf(units);
    const uint32_t length = LengthOf(slabs);
    const uint32_t full = units / slabs;
    const BlockShape streams{full, slabs * slab, slabs * slab};
    if constexpr (kWholeBlocksOnly) {
      if (HasTails(slabs)) {
        StoreRows(this->outGm_, offset, out, streams, length, out[apart_]);
      } else {
        StoreBlocks(this->outGm_, offset, out, streams, length);
      }
    } else {
      StoreBlocks(this->outGm_, offset, out, streams, length);
    }
    if (units % slabs > 0) {
      StoreBlocks(this->outGm_, offset + full * slabs * slab, out[full * length],
                  Piece(units % slabs * slab));
    }
  }

  __aicore__ inline bool HasTails(uint32_t slabs) const {
    return kWholeBlocksOnly && !whole_ && slabs * this->slab_ * sizeof(T) % kBlockBytes != 0;
  }

  // Lanes behind the last row hold anything: they are stored nowhere, and no other lane sees them.
  __aicore__ inline void Compute(uint32_t units, LocalTensor<T>& in) {
    const uint32_t slabs = SlabsOf(units);
    const uint32_t length = LengthOf(slabs);
    const uint32_t count = kStreams * length;
    LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    const LocalTensor<float> y = work_.template Get<float>();
    const LocalTensor<float> f = y[apart_];
    const LocalTensor<T> narrow = f.template ReinterpretCast<T>();
    if constexpr (kByWords) {
      TurnStreamsByWords<true>(y, in, length, f);
      TurnStreamsByWords<true>(f, in[apart_], length, in);
    } else if constexpr (kFp32) {
      StreamsToLanes(y, in, length);
      StreamsToLanes(f, in[apart_], length);
      PipeBarrier<PIPE_V>();
    } else {  // moving bits: a bf16 is as good as a half
      StreamsToLanes(narrow.template ReinterpretCast<half>(), in.template ReinterpretCast<half>(),
                     length);
      StreamsToLanes(out.template ReinterpretCast<half>(),
                     in[apart_].template ReinterpretCast<half>(), length);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(y, narrow, RoundMode::CAST_NONE, count);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(f, out, RoundMode::CAST_NONE, count);
      PipeBarrier<PIPE_V>();
    }
    step_.Prepare(f, y, count);
    PipeBarrier<PIPE_V>();
    const uint32_t pitch = columns_ * kStreams;
    const LocalTensor<float> scratch = in.template ReinterpretCast<float>();
    const Folded sums =
        columns_ == 1 ? SumSlabs(f, reduce_, SlabLie{reduce_, reduce_}, slabs, scratch)
                      : FoldRows(f, reduce_ * pitch, reduce_ * pitch, pitch, pitch, slabs, scratch);
    ScaleSlabs(y, reduce_, pitch, sums, slabs);
    inQueue_.FreeTensor(in);
    PipeBarrier<PIPE_V>();
    step_.Combine(y, f, y, count);
    PipeBarrier<PIPE_V>();
    if constexpr (kByWords) {
      TurnStreamsByWords<false>(y, out, length, f);
    } else if constexpr (kFp32) {
      LanesToStreams(out, y, length);
    } else {
      AscendC::Cast(narrow, y, kToNearestEven, count);
      PipeBarrier<PIPE_V>();
      LanesToStreams(out.template ReinterpretCast<half>(), narrow.template ReinterpretCast<half>(),
                     length);
    }
    PipeBarrier<PIPE_V>();  // the next tile overwrites the work area
    if (HasTails(slabs)) {
      TailsByWords(out[apart_], out, length, slabs * static_cast<uint32_t>(this->slab_),
                   units / slabs, f);
      PipeBarrier<PIPE_V>();
    }
    outQueue_.EnQue(out);
  }

  const Step& step_;
  const uint32_t reduce_;
  const uint32_t columns_;
  const int64_t most_;    // slabs of a tile
  const uint32_t apart_;  // elements from y to g
  const bool whole_;      // whether slabs of a stream are whole blocks, and a tile is one piece
  int64_t grid_ = 1;      // tiles but the first start on a multiple of so many slabs
  TQue<TPosition::VECIN, kQueueDepth> inQueue_;
  TQue<TPosition::VECOUT, kQueueDepth> outQueue_;
  TBuf<TPosition::VECCALC> work_;  // y and f in fp32
};

template <typename T, typename Step>
__aicore__ inline void RunShort(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  TPipe pipe;
  const Step step;
  ReduceShort<T, Step> path(&pipe, y, g, out, t, step);
  path.Process();
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SHORT_ROWS_H_
