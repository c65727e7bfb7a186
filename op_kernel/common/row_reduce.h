// SPDX-License-Identifier: Apache-2.0
// The row-reduction family on a view [A, R, B]:  s[a, b] = sum_r f(g, y)   out = h(f, s * y')
//
// A Step gives the operator its two vector steps; both work on fp32 lanes and keep a pair of zeros
// a zero in f:
//   kSumOfG                f(g, y) is g: a sum needs no y
//   Prepare(f, y, n)       f holds g on entry and f(g, y) on return; y holds y' on return
//   Combine(dst, f, sy, n) dst = h(f, s * y'); dst may be f or sy
// and the last two on registers as well, with a mask in place of n (register_rows.h).
// Tiling data comes from op_host/common/row_reduce_tiling.h.
//
// What all paths share is here. Each has a file of its own, which opens with its contract:
//   whole_rows.h    B == 1, rows that fit: padded (key 1) or packed (key 6)
//   row_reduce_registers.h   B == 1, rows that fit, in registers (key 7): register_rows.h, flat_rows.h
//   whole_slabs.h   B  > 1, slabs or columns of them that fit (key 3), on Ascend 950 by register_columns.h
//   short_rows.h    short ones of both that are no whole blocks, transposed (key 5)
//   interleaved_rows.h   16-bit rows that fit and are no whole blocks, transposed by groups of 16 (key 8)
//   long_axes.h     what does not fit, in chunks that cores share (keys 2 and 4)
//
// Where the queues do not order two instructions, both are on the vector pipe: PipeBarrier<PIPE_V>
// stands between them.
#ifndef OP_KERNEL_COMMON_ROW_REDUCE_H_
#define OP_KERNEL_COMMON_ROW_REDUCE_H_

#include <type_traits>

#include "common/block_copy.h"
#include "common/lanes.h"
#include "common/register_rows.h"
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

// Whether rows that are no whole blocks are ever packed (packed_rows.h).
constexpr bool kPacks = !kWholeBlocksOnly;

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

// What tiles and chunks share: the fp32 work area and the way in and out of it.
template <typename T, typename Step>
class RowReduceBase : protected RowOperands<T> {
 protected:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  __aicore__ inline RowReduceBase(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                  const RowReduceTilingData& t, const Step& step,
                                  uint8_t outBuffers, uint32_t tailBytes, bool inRegisters = false)
      : RowOperands<T>(y, g, out, t), t_(t), step_(step) {
    const uint32_t lanes = static_cast<uint32_t>(t.tileLanes);
    pipe->InitBuffer(outQueue_, outBuffers, static_cast<uint32_t>(lanes * sizeof(T)) + tailBytes);
    if (!kFp32 && !inRegisters) {
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

// The units of a core, several in a tile. A tile holds the whole reduction axis: each byte moves once. What a
// unit is and what becomes of it, says the Path, which derives from this:
//   At(unit, units)     the tile of so many units from this one on
//   LoadTile(tile)      enqueues its operands
//   Compute(tile, in)   enqueues its result and frees what it has dequeued
//   StoreTile(out, tile)
template <typename T, typename Step, typename Path>
class WholeTiles : protected RowReduceBase<T, Step> {
  using Base = RowReduceBase<T, Step>;

 public:
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
      ThePath().Compute(now, in);
      LocalTensor<T> out = this->outQueue_.template DeQue<T>();
      this->HintResults();
      ThePath().StoreTile(out, now);
      this->outQueue_.FreeTensor(out);
      if (next >= this->last_) {
        return;
      }
    }
  }

 protected:
  struct Tile {
    int64_t unit;  // the first
    uint32_t units;
    uint64_t offset;
    BlockShape shape;
    uint32_t pitch;  // lanes from one block to the next
    uint32_t lead;   // elements of a block of UB in front of it
  };

  __aicore__ inline WholeTiles(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                               const RowReduceTilingData& t, const Step& step, uint32_t tailBytes,
                               bool inRegisters = false)
      : Base(pipe, y, g, out, t, step, kOutBuffers, tailBytes, inRegisters) {
    const uint32_t behind = inRegisters ? kBehindRows : 0;
    pipe->InitBuffer(inQueue_, kBuffers,
                     static_cast<uint32_t>(2 * t.tileLanes * sizeof(T)) + behind);
  }

  __aicore__ inline LocalTensor<T> OpenTile() {
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    this->HintInputs();
    return in;
  }

  // f and y' of a tile: whole repeats, which are faster than a part of one. Of kSumOfG, the vector pipe may still be
  // at y'.
  __aicore__ inline typename Base::Pair Prepared(LocalTensor<T>& in, uint32_t lanes) {
    const typename Base::Pair pair = this->Lanes(in, lanes);
    if constexpr (!Base::kFp32) {
      inQueue_.FreeTensor(in);
    }
    this->step_.Prepare(pair.f, pair.y, lanes);
    if constexpr (!Step::kSumOfG) {
      PipeBarrier<PIPE_V>();
    }
    return pair;
  }

  __aicore__ inline void CloseTile(LocalTensor<T>& in, LocalTensor<T>& out) {
    this->outQueue_.EnQue(out);
    if constexpr (Base::kFp32) {
      inQueue_.FreeTensor(in);
    }
  }

  TQue<TPosition::VECIN, kQueueDepth> inQueue_;
  int64_t grid_ = 1;  // tiles but the first start on a multiple of so many units

 private:
  // A second one would save little of the time that a result takes to GM, and a larger tile saves more.
  static constexpr uint8_t kOutBuffers = 1;

  __aicore__ inline Path& ThePath() { return static_cast<Path&>(*this); }

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
    const Tile tile = ThePath().At(unit, static_cast<uint32_t>(left < most ? left : most));
    ThePath().LoadTile(tile);
    return tile;
  }
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_ROW_REDUCE_H_
