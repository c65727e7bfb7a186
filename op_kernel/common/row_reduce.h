// SPDX-License-Identifier: Apache-2.0
// The row-reduction family on a view [A, R, B]:  s[a, b] = sum_r f(g, y)   out = h(f, s * y')
//
// A Step gives the operator its two vector steps; both work on fp32 lanes and keep a pair of zeros
// a zero in f:
//   kSumOfG                f(g, y) is g: a sum needs no y
//   Prepare(f, y, n)       f holds g on entry and f(g, y) on return; y holds y' on return
//   Combine(dst, f, sy, n) dst = h(f, s * y'); dst may be f or sy
// A Mask may clear elements of the result of whole rows, see row_mask.h. Tiling data comes from
// op_host/common/row_reduce_tiling.h.
//
// kAlongLanes says that B == 1: R lies along the lanes of a vector and s is one value per row of a
// tile. Otherwise rows of b columns lie one below the other in UB and s is a vector of b lanes; GM
// is never transposed.
//
// Where the queues do not order two instructions, both are on the vector pipe: PipeBarrier<PIPE_V>
// stands between them.
#ifndef OP_KERNEL_COMMON_ROW_REDUCE_H_
#define OP_KERNEL_COMMON_ROW_REDUCE_H_

#include <type_traits>

#include "common/block_copy.h"
#include "common/folded_columns.h"
#include "common/lanes.h"
#include "common/packed_rows.h"
#include "common/row_reduce_data.h"
#include "kernel_operator.h"

namespace rowreduce {

using AscendC::GlobalTensor;
using AscendC::RoundMode;
using AscendC::TBuf;
using AscendC::TPipe;
using AscendC::TPosition;
using AscendC::TQue;

constexpr int32_t kQueueDepth = 1;
constexpr uint8_t kBuffers = 2;      // double buffering
constexpr int64_t kLineBytes = 512;  // GM moves in lines
// SoCs before 2201 know this mode of float to half by another name only.
constexpr RoundMode kToNearestEven = kWholeBlocksOnly ? RoundMode::CAST_NONE : RoundMode::CAST_RINT;

// No element is cleared.
struct NoMask {
  static constexpr uint32_t kRowLanes = kBlockLanes;  // rows lie a multiple of this apart

  __aicore__ inline void Load(int64_t, uint32_t, uint32_t) {}
  template <typename T>
  __aicore__ inline void Clear(const LocalTensor<T>&, uint32_t, uint32_t, int64_t, uint32_t,
                               const LocalTensor<float>&, const LocalTensor<float>&) {}
};

// The operands in GM, and the units of this core where R fits.
template <typename T>
class RowOperands {
 protected:
  __aicore__ inline RowOperands(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
    const int64_t core = AscendC::GetBlockIdx();
    const int64_t extra = core < t.extraCores ? core : t.extraCores;
    first_ = core * t.unitsPerCore + extra;
    last_ = first_ + t.unitsPerCore + (core < t.extraCores ? 1 : 0);
    slab_ = t.reduce * t.inner - t.missing;
    const uint64_t size = static_cast<uint64_t>(t.outer) * slab_;
    // Copies that read whole blocks stop where the units of the next core begin: it may already write
    // its results there, when they take the place of an operand.
    const bool own = kWholeBlocksOnly && t.ring == 0 && t.colTiles == 1;
    const uint64_t end = own ? static_cast<uint64_t>(last_) * slab_ : size;
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), end);
    gGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(g), end);
    outGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), size);
    inputsPastL2_ = t.pastL2;
    resultsPastL2_ = t.pastL2 - (last_ - first_ + t.tileUnits - 1) / t.tileUnits;
  }

  // In front of the copies of a tile, or of all.
  __aicore__ inline void HintInputs() {
    HintTile(yGm_, loaded_, inputsPastL2_);
    HintTile(gGm_, loaded_++, inputsPastL2_);
  }
  __aicore__ inline void HintResults() { HintTile(outGm_, stored_++, resultsPastL2_); }

  GlobalTensor<T> yGm_;
  GlobalTensor<T> gGm_;
  GlobalTensor<T> outGm_;
  int64_t first_;
  int64_t last_;
  int64_t slab_;  // elements of one a of [A, R, B]

 private:
  int64_t inputsPastL2_;  // tiles, see RowReduceTilingData::pastL2
  int64_t resultsPastL2_;
  int64_t loaded_ = 0;  // tiles
  int64_t stored_ = 0;
};

// What ReduceWhole and ReduceChunked (long_axes.h) share: the fp32 work area and the way in and out
// of it.
template <typename T, typename Step, bool kAlongLanes>
class RowReduceBase : protected RowOperands<T> {
 protected:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  __aicore__ inline RowReduceBase(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                  const RowReduceTilingData& t, const Step& step,
                                  uint8_t outBuffers, uint32_t tailBytes)
      : RowOperands<T>(y, g, out, t), t_(t), step_(step) {
    const uint32_t lanes = static_cast<uint32_t>(t.tileLanes);
    pipe->InitBuffer(outQueue_, outBuffers, static_cast<uint32_t>(lanes * sizeof(T)) + tailBytes);
    if constexpr (!kFp32) {
      pipe->InitBuffer(work_, static_cast<uint32_t>((2 * lanes + kWorkApart) * sizeof(float)));
    }
  }

  // The pair (y, g) of one tile shares a queue buffer: y first, g behind it.
  __aicore__ inline void LoadPair(const LocalTensor<T>& in, uint64_t offset,
                                  const BlockShape& shape, uint32_t pitch) {
    LoadBlocks(in, this->yGm_, offset, shape, pitch);
    LoadBlocks(in[t_.tileLanes], this->gGm_, offset, shape, pitch);
  }

  __aicore__ inline void LoadG(const LocalTensor<T>& in, uint64_t offset, const BlockShape& shape,
                               uint32_t pitch) {
    LoadBlocks(in[t_.tileLanes], this->gGm_, offset, shape, pitch);
  }

  struct Pair {
    LocalTensor<float> y;
    LocalTensor<float> f;
  };

  // Blocks of y and f that one instruction reads together are in different bank groups of UB.
  static constexpr uint32_t kWorkApart = kBankGroupLanes;

  // fp32 lanes of the pair: in place for fp32, otherwise converted into the work area.
  __aicore__ inline Pair Lanes(const LocalTensor<T>& in, uint32_t count) {
    if constexpr (kFp32) {
      return Pair{in, in[t_.tileLanes]};
    } else {
      const LocalTensor<float> y = work_.template Get<float>();
      const LocalTensor<float> f = y[t_.tileLanes + kWorkApart / 2];
      AscendC::Cast(y, in, RoundMode::CAST_NONE, count);
      AscendC::Cast(f, in[t_.tileLanes], RoundMode::CAST_NONE, count);
      PipeBarrier<PIPE_V>();
      return Pair{y, f};
    }
  }

  __aicore__ inline LocalTensor<float> LanesOfG(const LocalTensor<T>& in, uint32_t count) {
    if constexpr (kFp32) {
      PipeBarrier<PIPE_V>();
      return in[t_.tileLanes];
    } else {
      const LocalTensor<float> f = work_.template Get<float>()[t_.tileLanes + kWorkApart / 2];
      AscendC::Cast(f, in[t_.tileLanes], RoundMode::CAST_NONE, count);
      PipeBarrier<PIPE_V>();
      return f;
    }
  }

  // Lanes that pad a row take part in its sum.
  __aicore__ inline void ClearPads(const LocalTensor<float>& f, uint32_t pitch, uint32_t length,
                                   uint32_t rows) {
    if constexpr (kWholeBlocksOnly) {
      ZeroPads(f, pitch, length, UbPitch<T>(length), rows);
      PipeBarrier<PIPE_V>();
    }
  }

  // out = h(f, s * y'), where pair.y already holds s * y'. A 16-bit result is made in `lanes`, which
  // may be pair.y.
  __aicore__ inline void Finish(const LocalTensor<T>& out, const LocalTensor<float>& lanes,
                                const Pair& pair, uint32_t count) {
    if constexpr (kFp32) {
      step_.Combine(out, pair.f, pair.y, count);
    } else {
      step_.Combine(lanes, pair.f, pair.y, count);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(out, lanes, kToNearestEven, count);
    }
  }

  const RowReduceTilingData& t_;
  const Step& step_;
  TQue<TPosition::VECOUT, kQueueDepth> outQueue_;
  TBuf<TPosition::VECCALC> work_;  // y and f in fp32
};

// A tile holds the whole reduction axis, of several rows (or slabs [R, B]) where they are short:
// each byte moves once. kPacked: rows that start on any element of a block, see packed_rows.h.
template <typename T, typename Step, bool kAlongLanes, typename Mask = NoMask, bool kPacked = false>
class ReduceWhole : private RowReduceBase<T, Step, kAlongLanes> {
  using Base = RowReduceBase<T, Step, kAlongLanes>;
  using typename Base::Pair;

 public:
  __aicore__ inline ReduceWhole(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                const RowReduceTilingData& t, const Step& step, Mask& mask)
      : Base(pipe, y, g, out, t, step, kOutBuffers, TailBytes(t)), mask_(mask) {
    pipe->InitBuffer(inQueue_, kBuffers, static_cast<uint32_t>(2 * t.tileLanes * sizeof(T)));
    if constexpr (kAlongLanes) {
      const uint32_t rows = AlignUp(static_cast<uint32_t>(t.tileUnits), kSumsAtOnce);
      pipe->InitBuffer(sums_, static_cast<uint32_t>(rows * sizeof(float)));
      pipe->InitBuffer(spread_, rows * kBlockBytes + kSpreadSpare);
      if (TailBytes(t) > 0) {
        pipe->InitBuffer(tails_, 2 * TailBytes(t));
      }
      // SpreadSums reads whole groups of sums, of which the last may be partly unused.
      AscendC::Duplicate(sums_.template Get<float>(), 0.0F, static_cast<int32_t>(rows));
      PipeBarrier<PIPE_V>();
    }
    if constexpr (kFolds) {
      if (t.columns > 0) {
        folded_.Init(pipe, static_cast<uint32_t>(t.columns), static_cast<uint32_t>(t.inner),
                     static_cast<uint32_t>(t.tileUnits));
        ZeroInputs();
      }
    }
    if constexpr (kCircles) {
      if (OnCircles()) {
        const uint32_t length = static_cast<uint32_t>(t.reduce);
        packed_.Init(pipe, length, PitchOf(length), static_cast<uint32_t>(t.tileUnits));
      }
    }
    if constexpr (kPacked) {
      firstBlock_.Init(pipe, sizeof(T));
    }
    if constexpr (kAlongLanes && !kWholeBlocksOnly) {
      // The first tile of a core is so much shorter that the others start on GM lines, or as near to
      // that as the height of a tile allows.
      const int64_t row = t.reduce * static_cast<int64_t>(sizeof(T));
      const bool packed = kPacked || t.reduce % kBlockLanes == 0;
      while (packed && t.unitsPerCore > t.tileUnits && t.tileUnits % (2 * grid_) == 0 &&
             row * grid_ % kLineBytes != 0) {
        grid_ *= 2;
      }
    }
  }

  // The copies of a tile are issued before the arithmetic of the tile in front of it: the scalar unit
  // would not reach them while the queue of the vector pipe is full.
  __aicore__ inline void Process() {
    Tile tile = Load(this->first_);
    for (;;) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      const Tile now = tile;
      const int64_t next = now.unit + now.units;
      if (next < this->last_) {
        tile = Load(next);
      }
      Compute(now, in);
      LocalTensor<T> out = this->outQueue_.template DeQue<T>();
      this->HintResults();
      StoreTile(out, now);
      this->outQueue_.FreeTensor(out);
      if (next >= this->last_) {
        return;
      }
    }
  }

 private:
  // A second one would save little of the time that a result takes to GM, and a larger tile saves more.
  static constexpr uint8_t kOutBuffers = 1;
  static constexpr bool kCircles = kAlongLanes && !kWholeBlocksOnly;
  static constexpr uint32_t kSumsAtOnce = kWholeBlocksOnly ? kTurnRows : kStreams;
  static constexpr uint32_t kSpreadSpare = kWholeBlocksOnly ? kTurnRows * kBlockBytes : 0;
  static constexpr bool kFolds = !kAlongLanes && !kWholeBlocksOnly;

  // Of the tails of rows, behind the results of a tile.
  __aicore__ inline static uint32_t TailBytes(const RowReduceTilingData& t) {
    const bool tails = kWholeBlocksOnly && kAlongLanes && t.reduce * sizeof(T) % kBlockBytes != 0;
    return tails ? AlignUp(static_cast<uint32_t>(t.tileUnits), kWords) * kBlockBytes : 0;
  }

  struct Tile {
    int64_t unit;  // the first
    uint64_t offset;
    BlockShape shape;
    uint32_t units;  // rows, or slabs
    uint32_t width;  // lanes of one block: a row, or the columns of a slab
    uint32_t pitch;  // lanes from one block to the next
    uint32_t lead;   // elements of a block of UB in front of a packed tile
  };

  // A last tile of less than 32 bytes could not be stored: it computes units of this core before it
  // once more.
  __aicore__ inline int64_t Backward(int64_t unit) const {
    const int64_t unitLanes = this->t_.reduce * this->t_.inner;
    const int64_t wanted = 32 / static_cast<int64_t>(sizeof(T));
    if (this->t_.colTiles > 1 || (this->last_ - unit) * unitLanes >= wanted) {
      return unit;
    }
    const int64_t start = this->last_ - (wanted + unitLanes - 1) / unitLanes;
    return start > this->first_ ? start : this->first_;
  }

  // Enqueues the tile that begins with unit `next`.
  __aicore__ inline Tile Load(int64_t next) {
    const int64_t unit = kWholeBlocksOnly ? Backward(next) : next;
    const int64_t left = this->last_ - unit;
    const int64_t most = this->t_.tileUnits - unit % grid_;
    const Tile tile = At(unit, static_cast<uint32_t>(left < most ? left : most));
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    this->HintInputs();
    LoadTile(in, tile);
    inQueue_.EnQue(in);
    mask_.Load(unit, tile.units, tile.lead);
    return tile;
  }

  __aicore__ inline Tile At(int64_t unit, uint32_t units) const {
    const uint64_t reduce = static_cast<uint64_t>(this->t_.reduce);
    const uint64_t inner = static_cast<uint64_t>(this->t_.inner);
    Tile tile;
    tile.unit = unit;
    tile.units = units;
    if constexpr (kAlongLanes) {
      tile.offset = unit * reduce;
      tile.shape = BlockShape{units, static_cast<uint32_t>(reduce), reduce};
    } else if (this->t_.colTiles == 1) {
      tile.offset = unit * this->slab_;
      tile.shape =
          BlockShape{units * static_cast<uint32_t>(reduce), static_cast<uint32_t>(inner), inner};
    } else {
      const uint64_t column = static_cast<uint64_t>(unit % this->t_.colTiles) * this->t_.colTile;
      const uint64_t left = inner - column;
      const uint64_t most = static_cast<uint64_t>(this->t_.colTile);
      tile.offset = unit / this->t_.colTiles * reduce * inner + column;
      tile.shape = BlockShape{static_cast<uint32_t>(reduce),
                              static_cast<uint32_t>(left < most ? left : most), inner};
    }
    tile.width = WidthOf(tile.shape.length);
    tile.pitch = PitchOf(tile.shape.length);
    tile.lead = kPacked ? static_cast<uint32_t>(tile.offset % (kBlockBytes / sizeof(T))) : 0;
    return tile;
  }

  // 16-bit rows that are whole blocks as fp32 stay packed: a tile is one piece of GM.
  __aicore__ inline static uint32_t WidthOf(uint32_t length) {
    const bool packed = kPacked || (kCircles && !Base::kFp32 && length % kBlockLanes == 0);
    return packed ? length : UbPitch<T>(length);
  }

  __aicore__ inline static uint32_t PitchOf(uint32_t length) {
    return kPacked ? length : AlignUp(WidthOf(length), Mask::kRowLanes);
  }

  // Whether rows are no whole blocks: then they are added up alike on all paths, see packed_rows.h.
  __aicore__ inline bool OnCircles() const {
    return kCircles && this->t_.reduce % kBlockLanes != 0;
  }

  // With a lead, GM and UB agree on where in a block an element lies: most of the tile has a good start.
  __aicore__ inline void LoadTile(const LocalTensor<T>& in, const Tile& tile) {
    if constexpr (kFolds) {
      if (this->t_.columns > 0) {
        this->LoadPair(in, tile.offset, SlabsOf(tile), SlabLanes());
        return;
      }
    }
    if constexpr (kPacked) {
      if (tile.lead > 0) {
        const uint32_t count = tile.units * tile.width;
        LoadPiece(in, this->yGm_, tile.offset, count, tile.lead);
        LoadPiece(in[this->t_.tileLanes], this->gGm_, tile.offset, count, tile.lead);
        return;
      }
    }
    this->LoadPair(in, tile.offset, tile.shape, tile.pitch);
  }

  __aicore__ inline void StoreTile(const LocalTensor<T>& out, const Tile& tile) {
    if constexpr (kFolds) {
      if (this->t_.columns > 0) {
        StoreBlocks(this->outGm_, tile.offset, out, SlabsOf(tile), SlabLanes());
        return;
      }
    }
    if constexpr (kPacked) {
      if (tile.lead > 0) {
        StorePiece(this->outGm_, tile.offset, out, tile.units * tile.width, tile.lead);
        return;
      }
    }
    if constexpr (kWholeBlocksOnly && kAlongLanes) {
      if (TailBytes(this->t_) > 0) {
        StoreRows(this->outGm_, tile.offset, out, tile.shape, tile.pitch, out[this->t_.tileLanes]);
        return;
      }
    }
    StoreBlocks(this->outGm_, tile.offset, out, tile.shape, tile.pitch);
  }

  __aicore__ inline void Compute(const Tile& tile, LocalTensor<T>& in) {
    const uint32_t count = tile.lead + tile.shape.blocks * tile.pitch;
    const Pair pair = this->Lanes(in, count);
    if constexpr (!Base::kFp32) {
      inQueue_.FreeTensor(in);
    }
    this->step_.Prepare(pair.f, pair.y, count);
    PipeBarrier<PIPE_V>();
    if constexpr (kAlongLanes) {
      this->ClearPads(pair.f, tile.pitch, tile.shape.length, tile.units);
    }
    // The tree's scratch is never larger than the output of the tile, which is written after the
    // last use of the sums.
    LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
    const LocalTensor<float> scratch = out.template ReinterpretCast<float>();
    if constexpr (kAlongLanes) {
      const LocalTensor<float> sums = sums_.template Get<float>();
      const LocalTensor<float> spread = spread_.template Get<float>();
      SumOfRows(sums, pair.f, tile, scratch);
      PipeBarrier<PIPE_V>();
      SpreadSums(spread, sums, tile.units);
      PipeBarrier<PIPE_V>();
      if constexpr (kPacked) {
        packed_.Scale(pair.y, spread, tile.units, tile.lead);
      } else {
        ScaleRows(pair.y, tile.pitch, tile.width, spread, tile.units);
      }
    } else {
      const uint32_t rows = static_cast<uint32_t>(this->t_.reduce);
      ScaleSlabs(pair.y, rows, tile.pitch, SumColumns(pair.f, tile, scratch), tile.units);
    }
    PipeBarrier<PIPE_V>();
    this->Finish(out, pair.y, pair, count);
    PipeBarrier<PIPE_V>();  // the mask or the next tile overwrites the work area and the sums
    mask_.Clear(out, tile.pitch, tile.lead, tile.unit, tile.units, pair.f, pair.y);
    if constexpr (kPacked) {
      if (tile.lead > 0) {
        firstBlock_.Repeat(out, count, tile.lead);
      }
    }
    if constexpr (kWholeBlocksOnly && kAlongLanes) {
      if (TailBytes(this->t_) > 0) {
        TailsByWords(out[this->t_.tileLanes], out, tile.pitch, tile.shape.length, tile.units,
                     tails_.template Get<float>());
      }
    }
    this->outQueue_.EnQue(out);
    if constexpr (Base::kFp32) {
      inQueue_.FreeTensor(in);
    }
  }

  __aicore__ inline void SumOfRows(const LocalTensor<float>& sums, const LocalTensor<float>& f,
                                   const Tile& tile, const LocalTensor<float>& scratch) {
    if constexpr (kCircles) {
      if (OnCircles()) {
        packed_.Sum(sums, f, tile.units, tile.lead);
        return;
      }
    }
    SumRows(sums, f, tile.pitch, tile.width, tile.units, scratch, spread_.template Get<float>());
  }

  // The sum of each column of a tile, a row of tile.pitch lanes for each slab.
  __aicore__ inline Folded SumColumns(const LocalTensor<float>& f, const Tile& tile,
                                      const LocalTensor<float>& scratch) {
    const uint32_t slab = static_cast<uint32_t>(this->t_.reduce) * tile.pitch;
    if constexpr (kFolds) {
      if (this->t_.columns > 0) {
        ZeroMissing(f, tile.units);
        PipeBarrier<PIPE_V>();
        const uint32_t period = folded_.Period();
        return folded_.Spread(FoldRows(f, slab, slab, period, period, tile.units, scratch),
                              tile.units);
      }
    }
    return FoldRows(f, slab, slab, tile.pitch, tile.pitch, tile.units, scratch);
  }

  // Slabs of folded columns, each on blocks of its own in UB.
  __aicore__ inline BlockShape SlabsOf(const Tile& tile) const {
    return BlockShape{tile.units, static_cast<uint32_t>(this->slab_),
                      static_cast<uint64_t>(this->slab_)};
  }

  __aicore__ inline uint32_t SlabLanes() const {
    return static_cast<uint32_t>(this->t_.reduce * this->t_.inner);
  }

  // The whole blocks behind each slab, which a copy leaves as they are.
  __aicore__ inline void ZeroMissing(const LocalTensor<float>& slabs, uint32_t units) const {
    const uint32_t from = UbPitch<T>(static_cast<uint32_t>(this->slab_));
    ZeroColumns(slabs[from], SlabLanes(), SlabLanes() - from, units);
  }

  // Instructions over a whole tile read what lies behind its slabs before any copy has written there.
  __aicore__ inline void ZeroInputs() {
    if (this->t_.missing == 0) {
      return;
    }
    const int32_t floats = static_cast<int32_t>(2 * this->t_.tileLanes * sizeof(T) / sizeof(float));
    for (uint8_t i = 0; i < kBuffers; ++i) {
      LocalTensor<T> in = inQueue_.template AllocTensor<T>();
      AscendC::Duplicate(in.template ReinterpretCast<float>(), 0.0F, floats);
      inQueue_.FreeTensor(in);
    }
    PipeBarrier<PIPE_V>();
  }

  TQue<TPosition::VECIN, kQueueDepth> inQueue_;
  TBuf<TPosition::VECCALC> sums_;    // one sum per row
  TBuf<TPosition::VECCALC> spread_;  // each sum in a block of its own
  TBuf<TPosition::VECCALC> tails_;   // what tails of rows are made of
  PackedRows<float> packed_;
  FirstBlock<float> firstBlock_;
  FoldedColumns<float> folded_;
  Mask& mask_;
  int64_t grid_ = 1;  // tiles but the first start on a multiple of so many units
};

template <typename T, typename Step, bool kAlongLanes, bool kPacked = false>
__aicore__ inline void RunWhole(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  TPipe pipe;
  const Step step;
  NoMask mask;
  ReduceWhole<T, Step, kAlongLanes, NoMask, kPacked> path(&pipe, y, g, out, t, step, mask);
  path.Process();
}

// Whether rows are ever packed.
constexpr bool kPacks = !kWholeBlocksOnly;

template <typename T, typename Step>
__aicore__ inline void RunPacked(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  if constexpr (kPacks) {
    RunWhole<T, Step, true, true>(y, g, out, t);
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_ROW_REDUCE_H_
