// SPDX-License-Identifier: Apache-2.0
// Row reductions (row_reduce.h) whose axis is longer than a tile: rows, or columns of a slab, that are
// cut into chunks and shared by cores.
#ifndef OP_KERNEL_COMMON_LONG_AXES_H_
#define OP_KERNEL_COMMON_LONG_AXES_H_

#include "common/folded_columns.h"
#include "common/packed_rows.h"
#include "common/partial_sums.h"
#include "common/register_columns.h"
#include "common/register_rows.h"
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
class ReduceChunked : private RowReduceBase<T, Step> {
  using Base = RowReduceBase<T, Step>;
  using typename Base::Pair;
  using Sums = std::conditional_t<kAlongLanes, RowSums, ColumnSums>;
  // A chunk of rows that are no whole blocks is one packed row (packed_rows.h).
  static constexpr bool kPacks = rowreduce::kPacks && kAlongLanes && !kRegisters;
  // Columns that are no whole blocks lie side by side (folded_columns.h).
  static constexpr bool kFolds = !kAlongLanes && !kWholeBlocksOnly;
  // 16-bit columns have no buffer but those of their chunks: a load waits for each.
  static constexpr bool kFreesEarly = !Base::kFp32 && !kAlongLanes;

 public:
  __aicore__ inline ReduceChunked(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out, GM_ADDR workspace,
                                  const RowReduceTilingData& t, const Step& step)
      : Base(pipe, y, g, out, t, step, kBuffers, 0, kRegisters && t.columns == 0),
        cores_(AscendC::GetBlockNum()),
        units_(t.outer * t.colTiles),
        rounds_((units_ * t.share + cores_ - 1) / cores_),
        chunks_((t.reduce + t.chunk - 1) / t.chunk) {
    parts_ = (chunks_ + t.partChunks - 1) / t.partChunks;
    partsOfCore_ = (parts_ + t.share - 1) / t.share;
    free_ = t.ring;
    next_ = WorkOf(0);
    this->HintInputs();
    pipe->InitBuffer(ring_, static_cast<uint8_t>(t.ring),
                     static_cast<uint32_t>(2 * t.tileLanes * sizeof(T)));
    uint32_t width = kAlongLanes ? kBlockLanes : UbPitch<T>(static_cast<uint32_t>(t.colTile));
    if constexpr (kFolds) {
      if (t.columns > 0) {
        folded_.Init(pipe, static_cast<uint32_t>(t.columns), static_cast<uint32_t>(t.inner), 1);
        width = folded_.Period();
      }
    }
    sumLanes_ = width;
    pipe->InitBuffer(lanes_, Max(kSumLanes, width) * static_cast<uint32_t>(sizeof(float)));
    if constexpr (kPacks) {
      packed_ = t.reduce % (kBlockBytes / sizeof(T)) != 0;
      if (packed_) {
        row_.Init(pipe, static_cast<uint32_t>(t.chunk));
        firstBlock_.Init(pipe, sizeof(T));
      }
    }
    if (Base::kFp32 && !packed_ && !InRegisters()) {
      pipe->InitBuffer(fold_, static_cast<uint32_t>(
                                  (t.tileLanes / 2 + Max(kBankGroupLanes, width)) * sizeof(float)));
    }
    partials_.Init(pipe, workspace, static_cast<uint32_t>(parts_), width, t.share > 1);
  }

  // All cores make all rounds, since they wait for each other in each. Where UB holds two pieces or
  // three, a round is written after the sums of the next: then none stands still while sums are on
  // their way.
  __aicore__ inline void Process() {
    for (int64_t round = 0; round < rounds_ + this->t_.late; ++round) {
      if (!Base::kFp32) {
        Drop(round - this->t_.late);
      }
      if (round < rounds_) {
        Sum(round);
      }
      if (Base::kFp32) {
        Drop(round - this->t_.late);
      }
      if (round >= this->t_.late) {
        Write(round - this->t_.late);
      }
    }
  }

 private:
  struct Chunk {
    uint64_t offset;
    BlockShape shape;
    uint32_t pitch;
    uint32_t lead;   // lanes of a block of UB in front of it
    uint32_t count;  // lanes with padding
    uint32_t lanes;  // the same as whole repeats, which are faster than a part of one
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
    } else if (Folds()) {
      const uint64_t from = start * inner;
      const uint64_t behind = this->slab_ - from;
      const uint32_t count = static_cast<uint32_t>(Least(length * inner, behind));
      chunk.offset = unit * this->slab_ + from;
      chunk.shape = BlockShape{1, count, count};
    } else {
      const uint64_t column = static_cast<uint64_t>(unit % this->t_.colTiles) * this->t_.colTile;
      const uint64_t right = inner - column;
      const uint64_t width = static_cast<uint64_t>(this->t_.colTile);
      chunk.offset = (unit / this->t_.colTiles * reduce + start) * inner + column;
      chunk.shape = BlockShape{length, static_cast<uint32_t>(right < width ? right : width), inner};
    }
    chunk.pitch = UbPitch<T>(chunk.shape.length);
    chunk.lead = packed_ ? static_cast<uint32_t>(chunk.offset % (kBlockBytes / sizeof(T))) : 0;
    chunk.count = packed_ ? chunk.lead + chunk.shape.length : chunk.shape.blocks * chunk.pitch;
    chunk.lanes = AlignUp(chunk.count, kRepeatLanes);
    return chunk;
  }

  // A chunk is one row (register_rows.h), or rows of columns (register_columns.h).
  __aicore__ inline bool InRegisters() const { return kRegisters && !Folds(); }

  __aicore__ inline bool Folds() const {
    if constexpr (kFolds) {
      return this->t_.columns > 0;
    }
    return false;
  }

  __aicore__ inline static uint64_t Least(uint64_t a, uint64_t b) { return a < b ? a : b; }

  // What a core does in a round.
  struct Work {
    int64_t round;
    int64_t unit;  // from units_ on there is nothing left
    int64_t part;  // the first
    int64_t endPart;
    int64_t chunk;  // the first
    int64_t chunks;
    int64_t resident;
  };

  // Cores take turns: the last piece of a unit is shorter than the others.
  __aicore__ inline Work WorkOf(int64_t round) const {
    const int64_t share = this->t_.share;
    const int64_t piece = round * cores_ + (AscendC::GetBlockIdx() + round) % cores_;
    Work work;
    work.round = round;
    work.unit = piece / share;
    work.part = piece % share * partsOfCore_;
    work.endPart = work.part + partsOfCore_ < parts_ ? work.part + partsOfCore_ : parts_;
    work.chunk = work.part * this->t_.partChunks;
    const int64_t end = work.endPart * this->t_.partChunks;
    work.chunks = (end < chunks_ ? end : chunks_) - work.chunk;
    work.resident = work.chunks < this->t_.resident ? work.chunks : this->t_.resident;
    return work;
  }

  // Starts the loads that come next as far as there are buffers.
  __aicore__ inline void LoadAhead() {
    while (free_ > 0 && next_.unit < units_) {
      const bool again = nextLoad_ >= next_.chunks;
      const int64_t index = again ? nextLoad_ - next_.chunks + next_.resident : nextLoad_;
      const Chunk chunk = At(next_.unit, next_.chunk + index);
      LocalTensor<T> in = ring_.template AllocTensor<T>();
      Load(in, chunk, Step::kSumOfG && !again && index >= next_.resident);
      ring_.EnQue(in);
      --free_;
      if (++nextLoad_ == 2 * next_.chunks - next_.resident) {
        nextLoad_ = 0;
        next_ = WorkOf(next_.round + 1);
      }
    }
  }

  __aicore__ inline void Load(const LocalTensor<T>& in, const Chunk& chunk, bool gAlone) {
    if constexpr (kPacks) {
      if (chunk.lead > 0) {
        if (!gAlone) {
          LoadPiece(in, this->yGm_, chunk.offset, chunk.shape.length, chunk.lead);
        }
        LoadPiece(in[this->t_.tileLanes], this->gGm_, chunk.offset, chunk.shape.length, chunk.lead);
        return;
      }
    }
    if (gAlone) {
      this->LoadG(in, chunk.offset, chunk.shape, chunk.pitch);
    } else {
      this->LoadPair(in, chunk.offset, chunk.shape, chunk.pitch);
    }
  }

  __aicore__ inline void Free(LocalTensor<T>& in) {
    ring_.FreeTensor(in);
    ++free_;
    LoadAhead();
  }

  // Where the workspace has the sums of a unit.
  __aicore__ inline uint64_t SlotOf(int64_t unit) const {
    return this->t_.share > 1 ? static_cast<uint64_t>(unit % this->t_.slots) : 0;
  }

  // The round of a unit's last piece.
  __aicore__ inline int64_t EndOf(int64_t unit) const {
    return ((unit + 1) * this->t_.share - 1) / cores_;
  }

  // The place of the first resident chunk of a round.
  __aicore__ inline int64_t HeldFrom(int64_t round) const {
    return round % (this->t_.late + 1) * this->t_.resident;
  }

  // Of the unit that a round writes. fp32 leaves the scalar unit time enough.
  __aicore__ inline void Drop(int64_t round) {
    if (round >= 0) {
      partials_.Drop(SlotOf(WorkOf(round).unit));
    }
  }

  __aicore__ inline void Sum(int64_t round) {
    const Work work = WorkOf(round);
    LoadAhead();
    for (int64_t part = work.part; work.unit < units_ && part < work.endPart; ++part) {
      LocalTensor<float> partial = partials_.Open(part);
      if (InRegisters()) {
        SumInRegisters(partial, work, part);
      } else if constexpr (kAlongLanes) {
        SumLanesOf(partial, SumPart(work, part), At(work.unit, work.chunk).lead);
      } else {
        const Folded sum = SumPart(work, part);
        AscendC::DataCopy(partial, sum.lanes, sum.width);
      }
      partials_.Close(SlotOf(work.unit), part, partial);
    }
    partials_.Publish(round);
  }

  // partial[0] = the sum of a part, from that of its chunks.
  __aicore__ inline void SumLanesOf(const LocalTensor<float>& partial, const Folded& sum,
                                    uint32_t lead) {
    if constexpr (kPacks) {
      if (packed_) {
        row_.Sum(partial, sum.lanes, lead % kBlockLanes);
        return;
      }
    }
    SumRows(partial, sum.lanes, sum.pitch, sum.width, 1, sum.lanes, sum.lanes);
  }

  // partial = the sum of a part: of its chunks, in order.
  __aicore__ inline void SumInRegisters(const LocalTensor<float>& partial, const Work& work,
                                        int64_t part) {
#if OP_KERNEL_REGISTERS
    const int64_t first = part * this->t_.partChunks;
    const int64_t end = first + this->t_.partChunks;
    for (int64_t i = first; i < end && i < chunks_; ++i) {
      LocalTensor<T> in = ring_.template DeQue<T>();
      const Chunk chunk = At(work.unit, i);
      __ubuf__ T* y = InUb(in);
      __ubuf__ T* g = InUb(in[this->t_.tileLanes]);
      if constexpr (kAlongLanes) {
        RegisterRows<T, Step, true>::Sum(InUb(partial), y, g, chunk.shape.length, 1, i > first);
      } else {
        RegisterColumns<T, Step>::Sum(
            InUb(partial), y, g, static_cast<uint16_t>(chunk.shape.blocks), chunk.pitch, i > first);
      }
      PipeBarrier<PIPE_V>();
      Keep(work, i, in);
    }
#endif
  }

  // The results of a chunk.
  __aicore__ inline void CombineInRegisters(const LocalTensor<T>& out, const LocalTensor<T>& in,
                                            const Chunk& chunk, bool first) {
#if OP_KERNEL_REGISTERS
    __ubuf__ T* y = InUb(in);
    __ubuf__ T* g = InUb(in[this->t_.tileLanes]);
    if constexpr (kAlongLanes) {
      const LocalTensor<float> sum = lanes_.template Get<float>();
      if (first) {
        AscendC::Duplicate(sum, sum_, static_cast<int32_t>(kBlockLanes));
        PipeBarrier<PIPE_V>();
      }
      RegisterRows<T, Step, true>::Combine(InUb(out), InUb(sum), y, g, chunk.shape.length, 1);
    } else {
      RegisterColumns<T, Step>::Combine(InUb(out), InUb(sum_), y, g,
                                        static_cast<uint16_t>(chunk.shape.blocks), chunk.pitch);
    }
    PipeBarrier<PIPE_V>();
#endif
  }

  // A vector whose sum is that of a part: few lanes where they are added up, one row of columns.
  __aicore__ inline Folded SumPart(const Work& work, int64_t part) {
    const int64_t first = part * this->t_.partChunks;
    const int64_t end = first + this->t_.partChunks;
    const uint32_t fold = kAlongLanes ? kRepeatLanes
                          : Folds()   ? sumLanes_
                                      : At(work.unit, first).pitch;
    const LocalTensor<float> sum = lanes_.template Get<float>();
    // The sum leaves the work area at once, which the next chunk overwrites. Operands of fp32 have none.
    const bool alone = !Base::kFp32 && this->t_.partChunks == 1;
    uint32_t width = alone ? 2 * fold : Max(kSumLanes, fold);
    for (int64_t i = first; i < end && i < chunks_; ++i) {
      LocalTensor<T> in = ring_.template DeQue<T>();
      const Folded folded = FoldChunk(in, At(work.unit, i), fold, width);
      if (alone && folded.width > fold) {
        Keep(work, i, in);
        return FoldRow(folded.lanes, folded.width, fold, fold, sum);
      }
      if (i == first) {
        width = folded.width;
        AscendC::DataCopy(sum, folded.lanes, width);
      } else {
        AscendC::Add(sum, sum, folded.lanes, static_cast<int32_t>(folded.width));
      }
      PipeBarrier<PIPE_V>();
      Keep(work, i, in);
    }
    return FoldRow(sum, width, fold, fold, sum);
  }

  // A chunk that has been added up stays, or makes room.
  __aicore__ inline void Keep(const Work& work, int64_t chunk, LocalTensor<T>& in) {
    const int64_t index = chunk - work.chunk;
    if (index < work.resident) {
      held_[HeldFrom(work.round) + index] = in;
    } else {
      Free(in);
    }
  }

  // The summands of a chunk, folded to at most `most` lanes.
  __aicore__ inline Folded FoldChunk(const LocalTensor<T>& in, const Chunk& chunk, uint32_t fold,
                                     uint32_t most) {
    const LocalTensor<float> f = Summand(in, chunk.lanes);
    if constexpr (kAlongLanes) {
      this->ClearPads(f, chunk.pitch, chunk.shape.length, 1);
    }
    if constexpr (kPacks) {
      if (packed_) {
        return row_.Circle(f, chunk.count, most);
      }
    }
    LocalTensor<float> scratch = f;
    if constexpr (Base::kFp32) {
      scratch = fold_.template Get<float>();  // f may stay
    }
    const uint32_t lanes = AlignUp(chunk.count, fold);  // of folded columns more than the chunk has
    if (lanes > chunk.count) {
      AscendC::Duplicate(f[chunk.count], 0.0F, static_cast<int32_t>(lanes - chunk.count));
      PipeBarrier<PIPE_V>();
    }
    return FoldRow(f, lanes, fold, most, scratch);
  }

  // f(g, y) of a chunk.
  __aicore__ inline LocalTensor<float> Summand(const LocalTensor<T>& in, uint32_t lanes) {
    if constexpr (Step::kSumOfG) {
      return this->LanesOfG(in, lanes);
    } else {
      const Pair pair = this->Lanes(in, lanes);
      this->step_.Prepare(pair.f, pair.y, lanes);
      PipeBarrier<PIPE_V>();
      return pair.f;
    }
  }

  __aicore__ inline void Write(int64_t round) {
    const Work work = WorkOf(round);
    if (work.unit >= units_) {
      partials_.Await(round);
      return;
    }
    for (int64_t i = 0; i < work.chunks; ++i) {
      WriteChunk(work, i);
    }
  }

  __aicore__ inline void WriteChunk(const Work& work, int64_t index) {
    const Chunk chunk = At(work.unit, work.chunk + index);
    const bool resident = index < work.resident;
    LocalTensor<T> in = resident ? held_[HeldFrom(work.round) + index] : ring_.template DeQue<T>();
    if (InRegisters()) {
      if (index == 0) {
        partials_.Fetch(EndOf(work.unit), SlotOf(work.unit));
        sum_ = partials_.Take();
      }
      LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
      CombineInRegisters(out, in, chunk, index == 0);
      Free(in);
      EnQueAndStore(out, chunk);
      return;
    }
    const Pair pair = this->Lanes(in, chunk.lanes);
    // The first pass prepared a resident fp32 chunk in place, unless it had no need to.
    if (Step::kSumOfG || !Base::kFp32 || !resident) {
      this->step_.Prepare(pair.f, pair.y, chunk.lanes);
      PipeBarrier<PIPE_V>();
    }
    if (index == 0) {  // in front of the load that takes this chunk's place
      partials_.Fetch(EndOf(work.unit), SlotOf(work.unit));
    }
    if constexpr (kFreesEarly) {
      Free(in);
    }
    if (index == 0) {
      sum_ = partials_.Take();
      if constexpr (kFolds) {
        if (Folds()) {
          sum_ = folded_.Spread(Folded{sum_, sumLanes_, sumLanes_}, 1).lanes;
        }
      }
    }
    if constexpr (kAlongLanes) {
      AscendC::Muls(pair.y, pair.y, sum_, static_cast<int32_t>(chunk.lanes));
    } else if (Folds()) {
      const uint32_t width = static_cast<uint32_t>(this->t_.inner);
      const uint32_t rows = chunk.count / width;
      ForRows<Op::kMul>(pair.y, width, pair.y, width, sum_, 0, rows, width);
      if (rows * width < chunk.count) {
        const LocalTensor<float> last = pair.y[rows * width];
        AscendC::Mul(last, last, sum_, static_cast<int32_t>(chunk.count - rows * width));
      }
    } else {
      ForRows<Op::kMul>(pair.y, chunk.pitch, pair.y, chunk.pitch, sum_, 0, chunk.shape.blocks,
                        chunk.pitch);
    }
    PipeBarrier<PIPE_V>();
    LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
    if constexpr (kFreesEarly) {
      this->Finish(out, pair.y, pair, chunk.lanes);
      PipeBarrier<PIPE_V>();
    } else {
      // Clear of y and f, which the next chunk may overwrite at once.
      this->Finish(out, in.template ReinterpretCast<float>(), pair, chunk.lanes);
      Free(in);
    }
    if constexpr (kPacks) {
      if (chunk.lead > 0) {
        PipeBarrier<PIPE_V>();
        firstBlock_.Repeat(out, chunk.count, chunk.lead);
      }
    }
    EnQueAndStore(out, chunk);
  }

  __aicore__ inline void EnQueAndStore(LocalTensor<T>& out, const Chunk& chunk) {
    this->outQueue_.EnQue(out);
    out = this->outQueue_.template DeQue<T>();
    Store(out, chunk);
    this->outQueue_.FreeTensor(out);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Chunk& chunk) {
    if constexpr (kPacks) {
      if (chunk.lead > 0) {
        StorePiece(this->outGm_, chunk.offset, out, chunk.shape.length, chunk.lead);
        return;
      }
    }
    StoreBlocks(this->outGm_, chunk.offset, out, chunk.shape, chunk.pitch);
  }

  int64_t cores_;
  int64_t units_;
  int64_t rounds_;
  int64_t chunks_;  // of a unit
  int64_t parts_;
  int64_t partsOfCore_;
  int64_t free_;  // buffers of the ring
  Work next_;     // of the next load, and which of its loads
  int64_t nextLoad_ = 0;
  LocalTensor<T> held_[kMaxRing];  // resident chunks
  TQue<TPosition::VECIN, kMaxRing> ring_;
  TBuf<TPosition::VECCALC> lanes_;  // the sum of a part, before it is folded
  TBuf<TPosition::VECCALC> fold_;   // half a chunk
  PackedRow<float> row_;
  FirstBlock<float> firstBlock_;
  bool packed_ = false;
  FoldedColumns<float> folded_;
  uint32_t sumLanes_;  // of the sum of a part
  Sums partials_;
  typename Sums::Sum sum_{};  // of the unit that is written
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
