// SPDX-License-Identifier: Apache-2.0
// Layout Transposed, of short slabs [R, B] whose rows (of one column or several) are no whole blocks. Copied one by one,
// each would move a GM line for a few bytes.
//
//   GM   | slab 0 | slab 1 | slab 2 | slab 3 | ..       16 streams of as many slabs, here of 2
//   UB   in     stream 0: | slab 0 | slab 1 |   stream 1: | slab 2 | slab 3 |   ..   each from a block on
//        work   element 0 of streams 0 to 15 | element 1 of streams 0 to 15 | ..     a block of 16-bit, two of fp32
//        out    as `in`
//
// TransDataTo5HD transposes 16 streams, so a slab becomes [R, 16 B] and every lane works. Where a stream of slabs is whole
// blocks, one copy takes the tile; else each stream is a copy, padded to an odd number of blocks: the 16 that one
// transposition reads are in different bank groups then. Rows are added up in the order "mod64", columns in the order
// "tree". UB: TransposedUbOf.
#ifndef OP_KERNEL_COMMON_LAYOUT_TRANSPOSED_H_
#define OP_KERNEL_COMMON_LAYOUT_TRANSPOSED_H_

#include "common/row_reduce.h"

namespace rowreduce {

// dst[u, 0:lanes] = src[u, 0:lanes] + 0 for matrices at a pitch.
__aicore__ inline void CopyTerms(const LocalTensor<float>& dst, uint32_t dstPitch,
                                 const LocalTensor<float>& src, uint32_t srcPitch, uint32_t slabs,
                                 uint32_t lanes) {
  const uint32_t to = dstPitch / kBlockLanes;
  const uint32_t from = srcPitch / kBlockLanes;
  const uint32_t most = Max(to, from) <= kMaxRepeatStride ? kMaxRepeat : 1;  // repeats
  const AscendC::UnaryRepeatParams p(1, 1, Bits8(most > 1 ? to : 0), Bits8(most > 1 ? from : 0));
  for (uint32_t u = 0; u < slabs; u += most) {
    for (uint32_t c = 0; c < lanes; c += kRepeatLanes) {
      AscendC::Adds(dst[u * dstPitch + c], src[u * srcPitch + c], 0.0F,
                    static_cast<uint64_t>(Min(kRepeatLanes, lanes - c)),
                    Bits8(Min(most, slabs - u)), p);
    }
  }
}

// SumTransposed adds up 16 * count rows of `length` > 1 elements that have been transposed: element
// p of 16 rows is row p of a slab [length, 16]. The sums are those of Mod64Rows, bit by bit.
// `scratch` has as many lanes as the slabs.
__aicore__ inline Matrix SumTransposed(const LocalTensor<float>& slabs, uint32_t length,
                                       uint32_t count, const LocalTensor<float>& scratch) {
  const uint32_t partialCount = static_cast<uint32_t>(TilePartialCount(length));
  const uint32_t width = Min(length, partialCount);
  // The rows behind the first `partialCount` are added to the first `added` rows.
  const uint32_t added = length > partialCount ? Min(partialCount, length - partialCount) : 0;
  uint32_t half = 1;
  while (2 * half < width) {
    half *= 2;
  }
  const uint32_t slab = length * kStreams;
  const uint32_t pitch = Max(half, added) * kStreams;
  for (uint32_t at = partialCount; at < length; at += partialCount) {
    const LocalTensor<float>& before = at == partialCount ? slabs : scratch;
    ForRows<Op::kAdd>(scratch, pitch, before, at == partialCount ? slab : pitch,
                      slabs[at * kStreams], slab, count, Min(partialCount, length - at) * kStreams);
    PipeBarrier<PIPE_V>();
  }
  // The first halves are added from where those additions have left them.
  for (uint32_t row = 0; row < half;) {
    const bool left = row < added;
    const bool right = row + half < added;
    uint32_t end = right ? added - half : left ? Min(added, half) : half;
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
  for (half /= 2; half >= 1; half /= 2) {
    ForRows<Op::kAdd>(scratch, pitch, scratch, pitch, scratch[half * kStreams], pitch, count,
                      half * kStreams);
    PipeBarrier<PIPE_V>();
  }
  if (FitsStride(length)) {  // Mod64Rows starts with zeros there: no sum is -0
    CopyTerms(scratch, pitch, scratch, pitch, count, kStreams);
    PipeBarrier<PIPE_V>();
  }
  return Matrix{scratch, pitch, kStreams};
}

template <typename T, typename Step>
class Transposed {
 public:
  using Element = T;
  static constexpr bool kExists = true;

  __aicore__ inline Transposed(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t)
      : tiles(TilesOfCore(t)),
        ub(TransposedUbOf(TileShapeOf(t, sizeof(T)))),
        operands_(y, g, out, t, tiles.last * t.reduce * t.inner),
        reduce_(static_cast<uint32_t>(t.reduce)),
        columns_(static_cast<uint32_t>(t.inner)),
        slab_(reduce_ * columns_),
        lanes_(static_cast<uint32_t>(t.tileLanes)),
        whole_(IsWhole(static_cast<uint32_t>(t.tileUnits) / kStreams)) {
    if (whole_) {
      tiles.alignUnits = LineUnits(t, slab_ * static_cast<int64_t>(sizeof(T)));
    }
    if constexpr (kWholeBlocksOnly) {  // the last tile has a block to store
      tiles.leastUnits = CeilDiv(kBlockElements<T>, slab_);
    }
  }

  template <typename Loop>
  __aicore__ inline void Init(TPipe* pipe, Loop&) {
    pipe->InitBuffer(work_, ub.work.bytes);
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    operands_.HintInputs();
    LoadStreams(in, operands_.y_, tile);
    LoadStreams(in[lanes_], operands_.g_, tile);
    loop.EnQueIn(in);
  }

  // Lanes behind the last slab hold anything. They are not stored, and no other lane sees them.
  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
    const Streams streams = StreamsOf(tile);
    const uint32_t count = kStreams * streams.length;
    LocalTensor<T> out = loop.AllocOut();
    const Pair pair = Widen(in, out, streams.length);
    step_.Prepare(pair.f, pair.y, count);
    PipeBarrier<PIPE_V>();
    const Matrix sums = Sum(pair.f, streams.slabs, in.template ReinterpretCast<float>());
    ScaleSlabs(pair.y, reduce_, columns_ * kStreams, sums, streams.slabs);
    loop.FreeIn(in);
    PipeBarrier<PIPE_V>();
    step_.Combine(pair.y, pair.f, pair.y, count);
    PipeBarrier<PIPE_V>();
    Narrow(out, pair, streams.length);
    PipeBarrier<PIPE_V>();  // the next tile overwrites the work area
    if (!whole_) {
      MakeTails(out[lanes_], out, streams.length, streams.slabs * slab_, tile.units / streams.slabs,
                pair.f);
      PipeBarrier<PIPE_V>();
    }
    loop.EnQueOut(out);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    operands_.HintResults();
    const uint64_t offset = static_cast<uint64_t>(tile.unit) * slab_;
    if (whole_) {
      CopyOut(operands_.out_, offset, out, tile.units * slab_);
      return;
    }
    const Streams streams = StreamsOf(tile);
    const uint32_t count = streams.slabs * slab_;
    const uint32_t full = tile.units / streams.slabs;
    const uint32_t rest = tile.units % streams.slabs * slab_;
    CopyOutWithTails(operands_.out_, offset, out, Rows{full, count, count}, streams.length,
                     out[lanes_]);
    if (rest > 0) {
      CopyOut(operands_.out_, offset + full * count, out[full * streams.length], rest);
    }
  }

  CoreTiles tiles;
  const TileUb ub;

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;
  static constexpr bool kByWords = kFp32 && OP_KERNEL_NO_FLOAT_REDUCE;
  static constexpr uint32_t kLeastStream = kWholeBlocksOnly ? kLeastLegacyStream : kStreams;

  struct Streams {
    uint32_t slabs;   // slabs of a stream
    uint32_t length;  // elements from one stream to the next
  };

  // IsWhole says whether a stream of so many slabs is whole blocks, and long enough to be
  // transposed back.
  __aicore__ inline bool IsWhole(uint32_t slabs) const {
    return slabs * slab_ % kBlockElements<T> == 0 && slabs * slab_ >= kLeastStream;
  }

  __aicore__ inline Streams StreamsOf(const Tile& tile) const {
    uint32_t slabs = CeilDiv(tile.units, kStreams);
    while (whole_ && !IsWhole(slabs)) {
      ++slabs;
    }
    const uint32_t length = Max(kLeastStream, WholeBlocks<T>(slabs * slab_));
    const bool evenBlocks = !whole_ && length / kBlockElements<T> % 2 == 0;
    return Streams{slabs, length + (evenBlocks ? kBlockElements<T> : 0)};
  }

  // Loads full streams, and then the last one, which may be shorter.
  __aicore__ inline void LoadStreams(const LocalTensor<T>& in, const GlobalTensor<T>& gm,
                                     const Tile& tile) const {
    const uint64_t offset = static_cast<uint64_t>(tile.unit) * slab_;
    if (whole_) {
      CopyIn(in, gm, offset, tile.units * slab_);
      return;
    }
    const Streams streams = StreamsOf(tile);
    const uint32_t count = streams.slabs * slab_;
    const uint32_t full = tile.units / streams.slabs;
    const uint32_t rest = tile.units % streams.slabs * slab_;
    CopyIn(in, gm, offset, Rows{full, count, count}, streams.length);
    if (rest > 0) {
      CopyIn(in[full * streams.length], gm, offset + full * count, rest);
    }
  }

  // Makes y and g fp32 lanes of streams. `out` is not in use yet. The transposition moves bits: a bf16 goes as a half.
  __aicore__ inline Pair Widen(const LocalTensor<T>& in, const LocalTensor<T>& out,
                               uint32_t length) {
    const LocalTensor<float> y = work_.template Get<float>();
    const LocalTensor<float> f = y[lanes_];
    if constexpr (kByWords) {
      TransposeByWords<true>(y, in, length, f);
      TransposeByWords<true>(f, in[lanes_], length, in);
    } else if constexpr (kFp32) {
      StreamsToLanes(y, in, length, length);
      StreamsToLanes(f, in[lanes_], length, length);
      PipeBarrier<PIPE_V>();
    } else {
      const LocalTensor<T> narrow = f.template ReinterpretCast<T>();
      StreamsToLanes(narrow.template ReinterpretCast<half>(), in.template ReinterpretCast<half>(),
                     length, length);
      StreamsToLanes(out.template ReinterpretCast<half>(),
                     in[lanes_].template ReinterpretCast<half>(), length, length);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(y, narrow, RoundMode::CAST_NONE, kStreams * length);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(f, out, RoundMode::CAST_NONE, kStreams * length);
      PipeBarrier<PIPE_V>();
    }
    return Pair{y, f};
  }

  // Makes streams of the results, pair.y.
  __aicore__ inline void Narrow(const LocalTensor<T>& out, const Pair& pair, uint32_t length) {
    if constexpr (kByWords) {
      TransposeByWords<false>(pair.y, out, length, pair.f);
    } else if constexpr (kFp32) {
      LanesToStreams(out, pair.y, length, length);
    } else {
      const LocalTensor<T> narrow = pair.f.template ReinterpretCast<T>();
      AscendC::Cast(narrow, pair.y, kToNearestEven, kStreams * length);
      PipeBarrier<PIPE_V>();
      LanesToStreams(out.template ReinterpretCast<half>(), narrow.template ReinterpretCast<half>(),
                     length, length);
    }
  }

  __aicore__ inline Matrix Sum(const LocalTensor<float>& f, uint32_t slabs,
                               const LocalTensor<float>& scratch) const {
    if (columns_ == 1) {
      return SumTransposed(f, reduce_, slabs, scratch);
    }
    const uint32_t pitch = columns_ * kStreams;
    return AddHalves(f, reduce_ * pitch, reduce_ * pitch, pitch, pitch, slabs, scratch);
  }

  Operands<T> operands_;
  const Step step_{};
  const uint32_t reduce_;
  const uint32_t columns_;
  const uint32_t slab_;   // elements of a slab
  const uint32_t lanes_;  // of an operand in a buffer
  const bool whole_;      // whether streams are whole blocks, and one copy takes a tile
  TBuf<TPosition::VECCALC> work_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_LAYOUT_TRANSPOSED_H_
