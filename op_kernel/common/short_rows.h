// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for short rows that are no whole blocks of 32 bytes: copied row by
// row, each would move a whole GM line for a few bytes.
//
// A tile is one piece of GM, and 16 streams of as many whole rows each. TransDataTo5HD turns them into
// 16 lanes of a block: element p of stream i becomes lane i of position p, and a row a slab [R, 16].
// Slabs are added up in the order of rows (SumRows) and scaled as slabs are. The way back turns the
// result into rows again. A stream is whole blocks of 32 bytes long, and at least 16 elements.
#ifndef OP_KERNEL_COMMON_SHORT_ROWS_H_
#define OP_KERNEL_COMMON_SHORT_ROWS_H_

#include "common/row_reduce.h"

namespace rowreduce {

constexpr uint32_t kStreams = 16;

// The address of each, for the form of TransDataTo5HD that takes addresses: CANN's CPU debug check of
// the one with tensors wants a whole repeat stride behind the last repeat.
template <typename B>
__aicore__ inline uint64_t AddressOf(const LocalTensor<B>& tensor) {
  return reinterpret_cast<uint64_t>(tensor.GetPhyAddr());
}

// positions[16 p + i] = streams[i * length + p]
template <typename B>
__aicore__ inline void StreamsToLanes(const LocalTensor<B>& positions,
                                      const LocalTensor<B>& streams, uint32_t length) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  uint64_t to[kStreams];
  uint64_t from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = AddressOf(positions[i * kElements]);
    from[i] = AddressOf(streams[i * length]);
  }
  const uint32_t repeats = length / kElements;
  const bool one = repeats == 1;  // strides would shift the start of a single repeat
  AscendC::TransDataTo5HD<B>(
      to, from,
      AscendC::TransDataTo5HDParams(false, false, Bits8(repeats),
                                    static_cast<uint16_t>(one ? 0 : kStreams),
                                    static_cast<uint16_t>(one ? 0 : 1)));
}

// streams[i * length + p] = positions[16 p + i] for 16 * repeats positions. One instruction makes as
// many streams as a block has elements.
template <typename B>
__aicore__ inline void LanesToStreams(const LocalTensor<B>& streams,
                                      const LocalTensor<B>& positions, uint32_t length,
                                      uint32_t repeats) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  constexpr uint32_t kBlocks = kStreams / kElements;  // of one position, and of 16 of one stream
  const bool one = repeats == 1;
  for (uint32_t part = 0; part < kBlocks; ++part) {
    uint64_t to[kStreams];
    uint64_t from[kStreams];
    for (uint32_t i = 0; i < kStreams; ++i) {
      const uint32_t stream = part * kElements + i / kBlocks;
      to[i] = AddressOf(streams[stream * length + i % kBlocks * kElements]);
      from[i] = AddressOf(positions[i * kStreams + part * kElements]);
    }
    AscendC::TransDataTo5HD<B>(
        to, from,
        AscendC::TransDataTo5HDParams(false, false, Bits8(repeats),
                                      static_cast<uint16_t>(one ? 0 : kBlocks),
                                      static_cast<uint16_t>(one ? 0 : kStreams * kBlocks)));
  }
}

// The same for all of `length`.
template <typename B>
__aicore__ inline void LanesToStreams(const LocalTensor<B>& streams,
                                      const LocalTensor<B>& positions, uint32_t length) {
  LanesToStreams(streams, positions, length, length / kStreams);
  if (length % kStreams != 0) {  // some of the last 16 positions once more
    const uint32_t last = length - kStreams;
    PipeBarrier<PIPE_V>();
    LanesToStreams(streams[last], positions[last * kStreams], length, 1);
  }
}

// Vectors of 16 lanes, one per slab and term: `slab` blocks from one slab to the next, `term` from one
// term to the next.
struct Terms {
  LocalTensor<float> first;
  uint32_t slab;
  uint32_t term;
};

// dst[t, u] = a[t, u] + b[t, u] for `terms` terms of `slabs` slabs. A repeat takes a block of each of
// eight slabs or of eight terms, whichever is less work. The left blocks come before the right ones:
// the device compiler takes instructions whose results interleave for dependent.
__aicore__ inline void AddTerms(const Terms& dst, const Terms& a, const Terms& b, uint32_t terms,
                                uint32_t slabs) {
  const bool fewTerms = terms * CeilDiv(slabs, kRepeatBlocks) < slabs;
  const bool sameBanks = b.slab % kRepeatBlocks == 0;
  if (fewTerms && !sameBanks && b.slab * kRepeatBlocks <= kMaxRepeatStride) {
    for (uint32_t c = 0; c < kStreams; c += kBlockLanes) {
      for (uint32_t t = 0; t < terms; ++t) {
        ForBlocks<Op::kAdd>(dst.first[t * dst.term * kBlockLanes + c], dst.slab,
                            a.first[t * a.term * kBlockLanes + c], a.slab,
                            b.first[t * b.term * kBlockLanes + c], b.slab, slabs);
      }
    }
    return;
  }
  const BinaryRepeatParams p(Bits8(dst.term), Bits8(a.term), Bits8(b.term), Bits8(dst.slab),
                             Bits8(a.slab), Bits8(b.slab));
  for (uint32_t c = 0; c < kStreams; c += kBlockLanes) {
    for (uint32_t t = 0; t < terms; t += kRepeatBlocks) {
      Repeat<Op::kAdd>(dst.first[t * dst.term * kBlockLanes + c],
                       a.first[t * a.term * kBlockLanes + c], b.first[t * b.term * kBlockLanes + c],
                       Min(kRepeatBlocks, terms - t) * kBlockLanes, slabs, p);
    }
  }
}

// The sums of `count` slabs [rows, 16] that follow each other, bit by bit those that SumRows makes of
// rows of T: its lanes are rows of a slab here. Of the zeros that pad a row there, one is added here,
// wherever it costs least: a sum that has one is never -0, and nothing else tells where it was added.
//
// A sum is a tree over terms: sums of two neighbours, or of every eighth row. The first term of all
// slabs comes first in scratch, so that the tree takes whole vectors. Terms are an odd number of
// blocks from the slabs, and an odd number of slabs from each other: one instruction finds its blocks
// in different UB bank groups. Of nine rows and more, UB has room for less than 100 slabs.
//
// rows * count elements of T are whole blocks. scratch: 16 lanes for each, 32 if T is fp32, of which
// there may be an odd number of slabs.
template <typename T>
__aicore__ inline Folded SumSlabs(LocalTensor<float> slabs, uint32_t rows, uint32_t count,
                                  LocalTensor<float> scratch) {
  constexpr uint32_t kVectorBlocks = kStreams / kBlockLanes;
  const uint32_t lanes = AlignUp(count * kStreams, kRepeatLanes);
  const bool pairs = rows < kBlockLanes || UbPitch<T>(rows) > kShortRowLanes;
  scratch = scratch[kBlockLanes];
  for (; rows == 2 || rows == 4; rows /= 2) {  // neighbours of all slabs are evenly apart
    const uint32_t halves = count * rows / 2;
    AddTerms({scratch, kVectorBlocks, 0}, {slabs, 2 * kVectorBlocks, 0},
             {slabs[kStreams], 2 * kVectorBlocks, 0}, 1, halves);
    PipeBarrier<PIPE_V>();
    slabs = scratch;
    scratch = scratch[halves * kStreams + kBlockLanes];
  }
  const uint32_t slab = rows * kVectorBlocks;
  const uint32_t pitch = lanes + kStreams;
  const uint32_t term = pitch / kBlockLanes;
  const bool odd = pairs && rows % 2 == 1;
  uint32_t terms = kBlockLanes;
  if (pairs) {
    terms = CeilDiv(rows, 2);
    AddTerms({scratch, kVectorBlocks, term}, {slabs, slab, 2 * kVectorBlocks},
             {slabs[kStreams], slab, 2 * kVectorBlocks}, rows / 2, count);
  } else {
    for (uint32_t c = 0; c < kStreams; c += kBlockLanes) {
      AscendC::Adds(
          scratch[c], slabs[c], 0.0F, static_cast<uint64_t>(kRepeatLanes), Bits8(count),
          AscendC::UnaryRepeatParams(Bits8(term), kVectorBlocks, kVectorBlocks, Bits8(slab)));
    }
    for (uint32_t r = kBlockLanes; r < rows; r += kBlockLanes) {
      PipeBarrier<PIPE_V>();
      const Terms sums{scratch, kVectorBlocks, term};
      AddTerms(sums, sums, {slabs[r * kStreams], slab, kVectorBlocks}, Min(kBlockLanes, rows - r),
               count);
    }
  }
  PipeBarrier<PIPE_V>();
  for (uint32_t d = 1; d < terms; d *= 2) {
    for (uint32_t t = 0; t + d < terms; t += 2 * d) {
      const LocalTensor<float> sum = scratch[t * pitch];
      if (odd && t + d == terms - 1) {
        const Terms sums{sum, kVectorBlocks, 0};
        AddTerms(sums, sums, {slabs[(rows - 1) * kStreams], slab, 0}, 1, count);
      } else {
        AscendC::Add(sum, sum, scratch[(t + d) * pitch], static_cast<int32_t>(lanes));
      }
    }
    PipeBarrier<PIPE_V>();
  }
  const LocalTensor<float> sums = rows == 1 ? slabs : scratch;
  if (pairs) {
    AscendC::Adds(sums, sums, 0.0F, static_cast<int32_t>(lanes));
    PipeBarrier<PIPE_V>();
  }
  return Folded{sums, kStreams, kStreams};
}

template <typename T, typename Step>
class ReduceShort : private RowOperands<T> {
 public:
  __aicore__ inline ReduceShort(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                const RowReduceTilingData& t, const Step& step)
      : RowOperands<T>(y, g, out, t),
        step_(step),
        reduce_(static_cast<uint32_t>(t.reduce)),
        most_(t.tileUnits),
        pastL2_(t.pastL2),
        apart_(static_cast<uint32_t>(t.tileLanes)) {
    while (t.unitsPerCore > most_ && reduce_ * sizeof(T) * grid_ % kLineBytes != 0) {
      grid_ *= 2;
    }
    pipe->InitBuffer(inQueue_, kBuffers, static_cast<uint32_t>(2 * apart_ * sizeof(T)));
    pipe->InitBuffer(outQueue_, kBuffers, static_cast<uint32_t>(apart_ * sizeof(T)));
    pipe->InitBuffer(work_, static_cast<uint32_t>(2 * apart_ * sizeof(float)));
  }

  // As in ReduceWhole, the next tile is loaded before a tile is computed.
  __aicore__ inline void Process() {
    ResultsPastL2<T> results(this->outGm_, pastL2_);
    int64_t row = this->first_;
    int64_t end = Load(row);
    while (row < this->last_) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      const int64_t next = end;
      if (next < this->last_) {
        end = Load(next);
      }
      const uint32_t rows = static_cast<uint32_t>(next - row);
      Compute(rows, in);
      LocalTensor<T> out = outQueue_.template DeQue<T>();
      StoreBlocks(this->outGm_, row * reduce_, out, Piece(rows));
      outQueue_.FreeTensor(out);
      results.TileStored();
      row = next;
    }
  }

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  __aicore__ inline BlockShape Piece(uint32_t rows) const {
    return BlockShape{1, rows * reduce_, rows * reduce_};
  }

  // Enqueues the tile that begins with `row` and returns the row behind it. Tiles but the first of a
  // core start on GM lines.
  __aicore__ inline int64_t Load(int64_t row) {
    const int64_t most = most_ - row % grid_;
    const int64_t rows = this->last_ - row < most ? this->last_ - row : most;
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    const BlockShape piece = Piece(static_cast<uint32_t>(rows));
    LoadBlocks(in, this->yGm_, row * reduce_, piece);
    LoadBlocks(in[apart_], this->gGm_, row * reduce_, piece);
    inQueue_.EnQue(in);
    return row + rows;
  }

  // Lanes behind the last row hold anything: they are stored nowhere, and no other lane sees them.
  __aicore__ inline void Compute(uint32_t rows, LocalTensor<T>& in) {
    uint32_t slabs = CeilDiv(rows, kStreams);
    while (slabs * reduce_ * sizeof(T) % kBlockBytes != 0 || slabs * reduce_ < kStreams) {
      ++slabs;
    }
    const uint32_t length = slabs * reduce_;
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
    const Folded sums = SumSlabs<T>(f, reduce_, slabs, in.template ReinterpretCast<float>());
    ScaleSlabs(y, reduce_, kStreams, sums, slabs);
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
  const int64_t most_;  // rows of a tile
  const int32_t pastL2_;
  const uint32_t apart_;  // elements from y to g
  int64_t grid_ = 1;      // tiles but the first start on a multiple of so many rows
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
