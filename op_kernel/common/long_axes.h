// SPDX-License-Identifier: Apache-2.0
// Row reductions (row_reduce.h) whose axis is longer than a tile: rows, or columns of a slab, that are
// cut into chunks and shared by cores.
#ifndef OP_KERNEL_COMMON_LONG_AXES_H_
#define OP_KERNEL_COMMON_LONG_AXES_H_

#include "common/partial_sums.h"
#include "common/row_reduce.h"

namespace rowreduce {

// A core has 8 event ids per pair of pipes, and a queue buffer takes one.
constexpr uint32_t kMaxRing = 8;
constexpr uint32_t kSumLanes = kRowReduceSumLanes;

// The axis is cut into chunks, and these into parts, which one or several cores take. A first pass
// adds up each part, the sums of all parts make that of the unit, a second pass writes. Chunks of the
// first pass stay in the queue's buffers as far as these reach, so only the rest is read twice; the
// other buffers load what comes next, also of the next unit.
template <typename T, typename Step, bool kAlongLanes>
class ReduceChunked : private RowReduceBase<T, Step, kAlongLanes> {
  using Base = RowReduceBase<T, Step, kAlongLanes>;
  using typename Base::Pair;

 public:
  __aicore__ inline ReduceChunked(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                                  const RowReduceTilingData& t, const Step& step)
      : Base(pipe, y, g, out, t, step),
        groups_(AscendC::GetBlockNum() / t.share),
        group_(AscendC::GetBlockIdx() / t.share),
        units_(t.outer * t.colTiles),
        chunks_((t.reduce + t.chunk - 1) / t.chunk) {
    const int64_t parts = (chunks_ + t.partChunks - 1) / t.partChunks;
    const int64_t mine = (parts + t.share - 1) / t.share;
    firstPart_ = AscendC::GetBlockIdx() % t.share * mine;
    endPart_ = firstPart_ + mine < parts ? firstPart_ + mine : parts;
    firstChunk_ = firstPart_ * t.partChunks;
    const int64_t end = endPart_ * t.partChunks;
    endChunk_ = end < chunks_ ? end : chunks_;
    resident_ = endChunk_ - firstChunk_ < t.resident ? endChunk_ - firstChunk_ : t.resident;
    free_ = t.ring;
    nextUnit_ = group_;
    pipe->InitBuffer(ring_, static_cast<uint8_t>(t.ring),
                     static_cast<uint32_t>(2 * t.tileLanes * sizeof(T)));
    if constexpr (Base::kFp32) {
      pipe->InitBuffer(fold_, static_cast<uint32_t>(t.tileLanes / 2 * sizeof(float)));
    }
    const uint32_t width = kAlongLanes ? kBlockLanes : UbPitch<T>(static_cast<uint32_t>(t.colTile));
    pipe->InitBuffer(lanes_, Max(kSumLanes, width) * static_cast<uint32_t>(sizeof(float)));
    partials_.Init(pipe, workspace, static_cast<uint32_t>(parts), width, t.share > 1);
  }

  // All cores make all rounds, since they wait for each other in each. Where UB holds two units, a
  // round is written after the sums of the next: then none stands still while sums are on their way.
  __aicore__ inline void Process() {
    const int64_t late = Late() ? 1 : 0;
    const int64_t rounds = (units_ + groups_ - 1) / groups_;
    for (int64_t round = 0; round < rounds + late; ++round) {
      if (round < rounds) {
        Sum(round);
      }
      if (round >= late) {
        Write(round - late);
      }
    }
  }

 private:
  struct Chunk {
    uint64_t offset;
    BlockShape shape;
    uint32_t pitch;
    uint32_t count;  // lanes with padding
  };

  __aicore__ inline Chunk At(int64_t unit, int64_t index) const {
    const uint64_t reduce = static_cast<uint64_t>(this->t_.reduce);
    const uint64_t inner = static_cast<uint64_t>(this->t_.inner);
    const uint64_t most = static_cast<uint64_t>(this->t_.chunk);
    const uint64_t start = static_cast<uint64_t>(index) * most;
    const uint64_t left = reduce - start;
    const uint32_t length = static_cast<uint32_t>(left < most ? left : most);
    Chunk chunk;
    if constexpr (kAlongLanes) {
      chunk.offset = unit * reduce + start;
      chunk.shape = BlockShape{1, length, length};
    } else {
      const uint64_t column = static_cast<uint64_t>(unit % this->t_.colTiles) * this->t_.colTile;
      const uint64_t right = inner - column;
      const uint64_t width = static_cast<uint64_t>(this->t_.colTile);
      chunk.offset = (unit / this->t_.colTiles * reduce + start) * inner + column;
      chunk.shape = BlockShape{length, static_cast<uint32_t>(right < width ? right : width), inner};
    }
    chunk.pitch = UbPitch<T>(chunk.shape.length);
    chunk.count = chunk.shape.blocks * chunk.pitch;
    return chunk;
  }

  // Starts the loads that come next as far as there are buffers.
  __aicore__ inline void LoadAhead() {
    const int64_t mine = endChunk_ - firstChunk_;
    while (free_ > 0 && nextUnit_ < units_) {
      const bool again = nextLoad_ >= mine;
      const int64_t index = again ? nextLoad_ - mine + resident_ : nextLoad_;
      const Chunk chunk = At(nextUnit_, firstChunk_ + index);
      LocalTensor<T> in = ring_.template AllocTensor<T>();
      if (Step::kSumOfG && !again && index >= resident_) {
        this->LoadG(in, chunk.offset, chunk.shape, chunk.pitch);
      } else {
        this->LoadPair(in, chunk.offset, chunk.shape, chunk.pitch);
      }
      ring_.EnQue(in);
      --free_;
      if (++nextLoad_ == 2 * mine - resident_) {
        nextLoad_ = 0;
        nextUnit_ += groups_;
      }
    }
  }

  __aicore__ inline void Free(LocalTensor<T>& in) {
    ring_.FreeTensor(in);
    ++free_;
    LoadAhead();
  }

  __aicore__ inline int64_t UnitOf(int64_t round) const { return round * groups_ + group_; }

  __aicore__ inline bool Late() const {
    return this->t_.share > 1 && 2 * this->t_.resident <= this->t_.ring;
  }

  // The place of the first resident chunk of a round.
  __aicore__ inline int64_t HeldFrom(int64_t round) const {
    return Late() ? round % 2 * this->t_.resident : 0;
  }

  __aicore__ inline void Sum(int64_t round) {
    const int64_t unit = UnitOf(round);
    LoadAhead();
    for (int64_t part = firstPart_; unit < units_ && part < endPart_; ++part) {
      const Chunk first = At(unit, part * this->t_.partChunks);
      const uint32_t fold = kAlongLanes ? kBlockLanes : first.pitch;
      const LocalTensor<float> sum = lanes_.template Get<float>();
      AscendC::Duplicate(sum, 0.0F, static_cast<int32_t>(SumLanes(fold)));
      PipeBarrier<PIPE_V>();
      const int64_t end = (part + 1) * this->t_.partChunks;
      for (int64_t i = part * this->t_.partChunks; i < end && i < chunks_; ++i) {
        AddChunk(sum, At(unit, i), i - firstChunk_, HeldFrom(round));
      }
      LocalTensor<float> partial = partials_.Open(part);
      const uint32_t lanes = SumLanes(fold);
      if constexpr (kAlongLanes) {
        SumRows(partial, sum, lanes, lanes, 1, sum);
      } else {
        FoldRows(sum, lanes, lanes, fold, fold, 1, sum);
        AscendC::Add(partial, partial, sum, static_cast<int32_t>(fold));
      }
      PipeBarrier<PIPE_V>();
      partials_.Close(partials_.Slot(round, groups_, group_), part, partial);
    }
    partials_.Publish(round);
  }

  // Lanes in which a part is added up: few enough to be cheap in the end, many enough that a chunk
  // folds to them in few steps. Whole rows of columns.
  __aicore__ inline static uint32_t SumLanes(uint32_t pitch) {
    return pitch < kSumLanes ? kSumLanes / pitch * pitch : pitch;
  }

  __aicore__ inline void AddChunk(const LocalTensor<float>& sum, const Chunk& chunk, int64_t index,
                                  int64_t held) {
    LocalTensor<T> in = ring_.template DeQue<T>();
    const LocalTensor<float> f = Summand(in, chunk.count);
    if constexpr (kAlongLanes) {
      this->ClearPads(f, chunk.pitch, chunk.shape.length, 1);
    }
    LocalTensor<float> scratch = f;
    if constexpr (Base::kFp32) {
      scratch = fold_.template Get<float>();  // f may stay
    }
    const uint32_t fold = kAlongLanes ? kBlockLanes : chunk.pitch;
    const Folded folded = FoldRows(f, chunk.count, chunk.count, fold, SumLanes(fold), 1, scratch);
    AscendC::Add(sum, sum, folded.lanes, static_cast<int32_t>(folded.width));
    PipeBarrier<PIPE_V>();
    if (index < resident_) {
      held_[held + index] = in;
    } else {
      Free(in);
    }
  }

  // f(g, y) of a chunk.
  __aicore__ inline LocalTensor<float> Summand(const LocalTensor<T>& in, uint32_t count) {
    if constexpr (Step::kSumOfG) {
      return this->LanesOfG(in, count);
    } else {
      const Pair pair = this->Lanes(in, count);
      this->step_.Prepare(pair.f, pair.y, count);
      PipeBarrier<PIPE_V>();
      return pair.f;
    }
  }

  __aicore__ inline void Write(int64_t round) {
    partials_.Await(round);
    const int64_t unit = UnitOf(round);
    if (unit >= units_) {
      return;
    }
    LocalTensor<float> sums = partials_.Collect(partials_.Slot(round, groups_, group_));
    partials_.Fold(sums);
    if constexpr (kAlongLanes) {
      SpreadSums(this->spread_.template Get<float>(), sums, 1);
      PipeBarrier<PIPE_V>();
    }
    for (int64_t i = firstChunk_; i < endChunk_; ++i) {
      WriteChunk(At(unit, i), i - firstChunk_, HeldFrom(round), sums);
    }
    partials_.Release(sums);
  }

  __aicore__ inline void WriteChunk(const Chunk& chunk, int64_t index, int64_t held,
                                    const LocalTensor<float>& sums) {
    const bool resident = index < resident_;
    LocalTensor<T> in = resident ? held_[held + index] : ring_.template DeQue<T>();
    const Pair pair = this->Lanes(in, chunk.count);
    // The first pass prepared a resident fp32 chunk in place, unless it had no need to.
    if (Step::kSumOfG || !Base::kFp32 || !resident) {
      this->step_.Prepare(pair.f, pair.y, chunk.count);
      PipeBarrier<PIPE_V>();
    }
    if constexpr (!Base::kFp32) {
      Free(in);
    }
    if constexpr (kAlongLanes) {
      ScaleRows(pair.y, chunk.count, chunk.count, this->spread_.template Get<float>(), 1);
    } else {
      ForRows<Op::kMul>(pair.y, chunk.pitch, pair.y, chunk.pitch, sums, 0, chunk.shape.blocks,
                        chunk.pitch);
    }
    PipeBarrier<PIPE_V>();
    LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
    this->Finish(out, pair, chunk.count);
    PipeBarrier<PIPE_V>();
    if constexpr (Base::kFp32) {
      Free(in);
    }
    this->outQueue_.EnQue(out);
    out = this->outQueue_.template DeQue<T>();
    StoreBlocks(this->outGm_, chunk.offset, out, chunk.shape, chunk.pitch);
    this->outQueue_.FreeTensor(out);
  }

  int64_t groups_;  // of cores that share a unit
  int64_t group_;
  int64_t units_;
  int64_t chunks_;  // of a unit
  int64_t firstPart_;
  int64_t endPart_;
  int64_t firstChunk_;  // of this core in each unit
  int64_t endChunk_;
  int64_t resident_;
  int64_t free_;      // buffers of the ring
  int64_t nextUnit_;  // of the next load, and which of the unit's loads
  int64_t nextLoad_ = 0;
  LocalTensor<T> held_[kMaxRing];  // resident chunks
  TQue<TPosition::VECIN, kMaxRing> ring_;
  TBuf<TPosition::VECCALC> fold_;   // half a chunk
  TBuf<TPosition::VECCALC> lanes_;  // sum of a part, before it is folded
  PartialSums partials_;
};

template <typename T, typename Step, bool kAlongLanes>
__aicore__ inline void RunChunked(GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                                  const RowReduceTilingData& t) {
  TPipe pipe;
  const Step step;
  ReduceChunked<T, Step, kAlongLanes> path(&pipe, y, g, out, workspace, t, step);
  path.Process();
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_LONG_AXES_H_
