// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for short slabs [R, B] whose rows, of one column or several, are no
// whole blocks of 32 bytes: copied row by row, each would move a whole GM line for a few bytes.
//
// A tile is one piece of GM, and 16 streams of as many whole slabs each. TransDataTo5HD turns them into
// 16 lanes of a block: element p of stream i becomes lane i of position p, and a slab [R, 16 B]. Those
// of rows (B == 1) are added up in the order of PackedRows, others as slabs are. The way back turns the
// result into slabs as they lie in GM. A stream is whole blocks of 32 bytes long, at least 16 elements.
#ifndef OP_KERNEL_COMMON_SHORT_ROWS_H_
#define OP_KERNEL_COMMON_SHORT_ROWS_H_

#include "common/row_reduce.h"
#include "common/transpose.h"

namespace rowreduce {

// dst[u, 0:lanes] = src[u, 0:lanes] + 0 for slabs at a pitch.
__aicore__ inline void CopyTerms(const LocalTensor<float>& dst, uint32_t dstPitch,
                                 const LocalTensor<float>& src, uint32_t srcPitch, uint32_t slabs,
                                 uint32_t lanes) {
  const uint32_t to = dstPitch / kBlockLanes;
  const uint32_t from = srcPitch / kBlockLanes;
  const bool narrow = IsNarrow(slabs, lanes) && from * kRepeatBlocks <= kMaxRepeatStride;
  const uint32_t atOnce =
      narrow ? kRepeatBlocks : 1;  // a block of each of eight slabs, or one slab
  const uint32_t step = narrow ? kBlockLanes : kRepeatLanes;
  const AscendC::UnaryRepeatParams p(Bits8(narrow ? to : 1), Bits8(narrow ? from : 1),
                                     Bits8(to * atOnce), Bits8(from * atOnce));
  for (uint32_t u = 0; u < slabs;) {
    const uint32_t left = slabs - u;
    const uint32_t repeats = left < atOnce ? 1 : Min(kMaxRepeat, left / atOnce);
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

// The sums of `count` slabs [rows, 16] that follow each other, bit by bit those of rows on a circle
// (packed_rows.h), whose lanes are rows of a slab here: those 32 apart are added, then those 16 apart and
// so on. One zero takes the place of those that a circle starts with: a sum that has one is never -0.
// rows > 1. scratch: as many lanes as the slabs.
__aicore__ inline Folded SumSlabs(const LocalTensor<float>& slabs, uint32_t rows, uint32_t count,
                                  const LocalTensor<float>& scratch) {
  uint32_t half = 1;
  while (2 * half < rows) {
    half *= 2;
  }
  const uint32_t slab = rows * kStreams;
  const uint32_t pitch = half * kStreams;
  const uint32_t added = slab - pitch;
  ForRows<Op::kAdd>(scratch, pitch, slabs, slab, slabs[pitch], slab, count, added);
  CopyTerms(scratch[added], pitch, slabs[added], slab, count, pitch - added);
  PipeBarrier<PIPE_V>();
  for (half /= 2; half > 0; half /= 2) {
    ForRows<Op::kAdd>(scratch, pitch, scratch, pitch, scratch[half * kStreams], pitch, count,
                      half * kStreams);
    PipeBarrier<PIPE_V>();
  }
  if (added == pitch) {
    AscendC::Adds(scratch, scratch, 0.0F, static_cast<int32_t>(count * pitch));
    PipeBarrier<PIPE_V>();
  }
  return Folded{scratch, pitch, kStreams};
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
        pastL2_(t.pastL2),
        apart_(static_cast<uint32_t>(t.tileLanes)) {
    while (t.unitsPerCore > most_ && this->slab_ * sizeof(T) * grid_ % kLineBytes != 0) {
      grid_ *= 2;
    }
    pipe->InitBuffer(inQueue_, kBuffers, static_cast<uint32_t>(2 * apart_ * sizeof(T)));
    pipe->InitBuffer(outQueue_, kBuffers, static_cast<uint32_t>(apart_ * sizeof(T)));
    pipe->InitBuffer(work_, static_cast<uint32_t>(2 * apart_ * sizeof(float)));
  }

  // As in ReduceWhole, the next tile is loaded before a tile is computed.
  __aicore__ inline void Process() {
    ResultsPastL2<T> results(this->outGm_, pastL2_);
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
      StoreBlocks(this->outGm_, unit * this->slab_, out, Piece(units));
      outQueue_.FreeTensor(out);
      results.TileStored();
      unit = next;
    }
  }

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  __aicore__ inline BlockShape Piece(uint32_t units) const {
    const uint32_t count = units * static_cast<uint32_t>(this->slab_);
    return BlockShape{1, count, count};
  }

  // Enqueues the tile that begins with slab `unit` and returns the slab behind it. Tiles but the first of a
  // core start on GM lines.
  __aicore__ inline int64_t Load(int64_t unit) {
    const int64_t most = most_ - unit % grid_;
    const int64_t units = this->last_ - unit < most ? this->last_ - unit : most;
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    const BlockShape piece = Piece(static_cast<uint32_t>(units));
    LoadBlocks(in, this->yGm_, unit * this->slab_, piece);
    LoadBlocks(in[apart_], this->gGm_, unit * this->slab_, piece);
    inQueue_.EnQue(in);
    return unit + units;
  }

  // Lanes behind the last row hold anything: they are stored nowhere, and no other lane sees them.
  __aicore__ inline void Compute(uint32_t units, LocalTensor<T>& in) {
    const uint32_t slab = static_cast<uint32_t>(this->slab_);
    uint32_t slabs = CeilDiv(units, kStreams);
    while (slabs * slab * sizeof(T) % kBlockBytes != 0 || slabs * slab < kStreams) {
      ++slabs;
    }
    const uint32_t length = slabs * slab;
    const uint32_t count = kStreams * length;
    LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    const LocalTensor<float> y = work_.template Get<float>();
    const LocalTensor<float> f = y[apart_];
    const LocalTensor<T> narrow = f.template ReinterpretCast<T>();
    if constexpr (kFp32) {
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
        columns_ == 1 ? SumSlabs(f, reduce_, slabs, scratch)
                      : FoldRows(f, reduce_ * pitch, reduce_ * pitch, pitch, pitch, slabs, scratch);
    ScaleSlabs(y, reduce_, pitch, sums, slabs);
    inQueue_.FreeTensor(in);
    PipeBarrier<PIPE_V>();
    step_.Combine(y, f, y, count);
    PipeBarrier<PIPE_V>();
    if constexpr (kFp32) {
      LanesToStreams(out, y, length);
    } else {
      AscendC::Cast(narrow, y, kToNearestEven, count);
      PipeBarrier<PIPE_V>();
      LanesToStreams(out.template ReinterpretCast<half>(), narrow.template ReinterpretCast<half>(),
                     length);
    }
    PipeBarrier<PIPE_V>();  // the next tile overwrites the work area
    outQueue_.EnQue(out);
  }

  const Step& step_;
  const uint32_t reduce_;
  const uint32_t columns_;
  const int64_t most_;  // slabs of a tile
  const int32_t pastL2_;
  const uint32_t apart_;  // elements from y to g
  int64_t grid_ = 1;      // tiles but the first start on a multiple of so many slabs
  TQue<TPosition::VECIN, kQueueDepth> inQueue_;
  TQue<TPosition::VECOUT, kQueueDepth> outQueue_;
  TBuf<TPosition::VECCALC> work_;  // y and f in fp32
};

template <typename T, typename Step>
__aicore__ inline void RunShort(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  if constexpr (!kWholeBlocksOnly) {
    TPipe pipe;
    const Step step;
    ReduceShort<T, Step> path(&pipe, y, g, out, t, step);
    path.Process();
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SHORT_ROWS_H_
