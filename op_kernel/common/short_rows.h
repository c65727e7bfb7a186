// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for short rows that are no whole blocks of 32 bytes: copied row by
// row, each would move a whole GM line for a few bytes.
//
// A tile is one piece of GM, and 16 streams of as many whole rows each. TransDataTo5HD turns them into
// 16 lanes of a block: element p of stream i becomes lane i of position p, and a row a slab [R, 16],
// which is added up and scaled as slabs are. The way back turns the result into rows again. A stream
// is whole blocks of 32 bytes long, and at least 16 elements.
#ifndef OP_KERNEL_COMMON_SHORT_ROWS_H_
#define OP_KERNEL_COMMON_SHORT_ROWS_H_

#include "common/row_reduce.h"

namespace rowreduce {

constexpr uint32_t kStreams = 16;

// positions[16 p + i] = streams[i * length + p]
template <typename B>
__aicore__ inline void StreamsToLanes(const LocalTensor<B>& positions,
                                      const LocalTensor<B>& streams, uint32_t length) {
  constexpr uint32_t kElements = kBlockBytes / sizeof(B);
  LocalTensor<B> to[kStreams];
  LocalTensor<B> from[kStreams];
  for (uint32_t i = 0; i < kStreams; ++i) {
    to[i] = positions[i * kElements];
    from[i] = streams[i * length];
  }
  const uint32_t repeats = length / kElements;
  const bool one = repeats == 1;  // strides would shift the start of a single repeat
  AscendC::TransDataTo5HD<B>(
      to, from,
      AscendC::TransDataTo5HDParams(false, false, static_cast<uint8_t>(repeats),
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
    LocalTensor<B> to[kStreams];
    LocalTensor<B> from[kStreams];
    for (uint32_t i = 0; i < kStreams; ++i) {
      const uint32_t stream = part * kElements + i / kBlocks;
      to[i] = streams[stream * length + i % kBlocks * kElements];
      from[i] = positions[i * kStreams + part * kElements];
    }
    AscendC::TransDataTo5HD<B>(
        to, from,
        AscendC::TransDataTo5HDParams(false, false, static_cast<uint8_t>(repeats),
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
    inQueue_.FreeTensor(in);
    step_.Prepare(f, y, count);
    PipeBarrier<PIPE_V>();
    const uint32_t slab = reduce_ * kStreams;
    const Folded sums =
        FoldRows(f, slab, slab, kStreams, kStreams, slabs, out.template ReinterpretCast<float>());
    ScaleSlabs(y, reduce_, kStreams, sums, slabs);
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
