// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for rows (B == 1) that fit in UB: R lies along the lanes of a vector, s is
// one value per row of a tile.
//
// kPacked: rows that are no whole blocks follow each other in UB as they do in GM, so that a tile is one piece of it
// (packed_rows.h). Otherwise each row starts on a block. Sums are the same.
//
// A Mask may clear elements of the result, as RowMask of row_mask.h does:
//   kRowLanes          rows lie a multiple of this apart
//   Load(row, rows, lead)
//   Clear(out, lanes, lead, row, rows, halves, bits)   the last two are lanes of the tile that are free by then
#ifndef OP_KERNEL_COMMON_WHOLE_ROWS_H_
#define OP_KERNEL_COMMON_WHOLE_ROWS_H_

#include "common/packed_rows.h"
#include "common/row_reduce.h"

namespace rowreduce {

// No element is cleared.
struct NoMask {
  static constexpr uint32_t kRowLanes = kBlockLanes;

  __aicore__ inline void Load(int64_t, uint32_t, uint32_t) {}
  template <typename T>
  __aicore__ inline void Clear(const LocalTensor<T>&, uint32_t, uint32_t, int64_t, uint32_t,
                               const LocalTensor<float>&, const LocalTensor<float>&) {}
};

template <typename T, typename Step, bool kPacked, typename Mask = NoMask>
class ReduceRows : private WholeTiles<T, Step, ReduceRows<T, Step, kPacked, Mask>> {
  using Base = WholeTiles<T, Step, ReduceRows>;
  using typename Base::Pair;
  using typename Base::Tile;
  friend Base;

 public:
  using Base::Process;

  __aicore__ inline ReduceRows(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                               const RowReduceTilingData& t, const Step& step, Mask& mask)
      : Base(pipe, y, g, out, t, step, TailBytes(t)),
        length_(static_cast<uint32_t>(t.reduce)),
        mask_(mask) {
    const uint32_t rows = AlignUp(static_cast<uint32_t>(t.tileUnits), kSumsAtOnce);
    pipe->InitBuffer(sums_, static_cast<uint32_t>(rows * sizeof(float)));
    pipe->InitBuffer(spread_, rows * kBlockBytes + kSpreadSpare);
    if (TailBytes(t) > 0) {
      pipe->InitBuffer(tails_, 2 * TailBytes(t));
    }
    if constexpr (kWholeBlocksOnly) {  // SpreadByWords adds up what lies behind the sums
      AscendC::Duplicate(sums_.template Get<float>(), 0.0F, static_cast<int32_t>(rows));
      PipeBarrier<PIPE_V>();
    }
    if constexpr (kPacks) {
      if (OnCircles()) {
        packed_.Init(pipe, length_, Pitch(), static_cast<uint32_t>(t.tileUnits));
      }
    }
    if constexpr (kPacked) {
      firstBlock_.Init(pipe, sizeof(T));
    }
    if constexpr (!kWholeBlocksOnly) {
      // The first tile of a core is so much shorter that the others start on GM lines, or as near to
      // that as the height of a tile allows.
      const int64_t row = t.reduce * static_cast<int64_t>(sizeof(T));
      const bool packed = kPacked || t.reduce % kBlockLanes == 0;
      while (packed && t.unitsPerCore > t.tileUnits && t.tileUnits % (2 * this->grid_) == 0 &&
             row * this->grid_ % kLineBytes != 0) {
        this->grid_ *= 2;
      }
    }
  }

 private:
  static constexpr uint32_t kSumsAtOnce = kWholeBlocksOnly ? kTurnRows : kStreams;
  static constexpr uint32_t kSpreadSpare = kWholeBlocksOnly ? kTurnRows * kBlockBytes : 0;

  // Of the tails of rows, behind the results of a tile.
  __aicore__ inline static uint32_t TailBytes(const RowReduceTilingData& t) {
    const bool tails = kWholeBlocksOnly && t.reduce * sizeof(T) % kBlockBytes != 0;
    return tails ? AlignUp(static_cast<uint32_t>(t.tileUnits), kWords) * kBlockBytes : 0;
  }

  __aicore__ inline Tile At(int64_t unit, uint32_t units) const {
    const uint64_t offset = static_cast<uint64_t>(unit) * length_;
    const uint32_t lead = kPacked ? static_cast<uint32_t>(offset % (kBlockBytes / sizeof(T))) : 0;
    return Tile{unit, units, offset, BlockShape{units, length_, length_}, Pitch(), lead};
  }

  // Lanes of a row. 16-bit rows that are whole blocks as fp32 stay packed: a tile is one piece of GM.
  __aicore__ inline uint32_t Width() const {
    const bool packed = kPacked || (kPacks && !Base::kFp32 && length_ % kBlockLanes == 0);
    return packed ? length_ : UbPitch<T>(length_);
  }

  __aicore__ inline uint32_t Pitch() const {
    return kPacked ? length_ : AlignUp(Width(), Mask::kRowLanes);
  }

  // Whether rows are no whole blocks: then they are added up alike on all paths, see packed_rows.h.
  __aicore__ inline bool OnCircles() const { return kPacks && length_ % kBlockLanes != 0; }

  // With a lead, GM and UB agree on where in a block an element lies: most of the tile has a good start.
  __aicore__ inline void LoadTile(const Tile& tile) {
    LocalTensor<T> in = this->OpenTile();
    if constexpr (kPacked) {
      const uint32_t count = tile.units * length_;
      LoadPiece(in, this->yGm_, tile.offset, count, tile.lead);
      LoadPiece(in[this->t_.tileLanes], this->gGm_, tile.offset, count, tile.lead);
    } else {
      this->LoadPair(in, tile.offset, tile.shape, tile.pitch);
    }
    this->inQueue_.EnQue(in);
    mask_.Load(tile.unit, tile.units, tile.lead);
  }

  __aicore__ inline void StoreTile(const LocalTensor<T>& out, const Tile& tile) {
    if constexpr (kPacked) {
      if (tile.lead > 0) {
        StorePiece(this->outGm_, tile.offset, out, tile.units * length_, tile.lead);
        return;
      }
    }
    if constexpr (kWholeBlocksOnly) {
      if (TailBytes(this->t_) > 0) {
        StoreRows(this->outGm_, tile.offset, out, tile.shape, tile.pitch, out[this->t_.tileLanes]);
        return;
      }
    }
    StoreBlocks(this->outGm_, tile.offset, out, tile.shape, tile.pitch);
  }

  __aicore__ inline void Compute(const Tile& tile, LocalTensor<T>& in) {
    const uint32_t count = tile.lead + tile.units * tile.pitch;
    const uint32_t lanes = AlignUp(count, kRepeatLanes);
    const Pair pair = this->Prepared(in, lanes);
    this->ClearPads(pair.f, tile.pitch, length_, tile.units);
    // The tree's scratch is never larger than the output of the tile, which is written after the
    // last use of the sums.
    LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
    const LocalTensor<float> spread = Sum(pair.f, tile, out.template ReinterpretCast<float>());
    PipeBarrier<PIPE_V>();
    if constexpr (kPacked) {
      packed_.Scale(pair.y, spread, tile.units, tile.lead);
    } else {
      ScaleRows(pair.y, tile.pitch, Width(), spread, tile.units);
    }
    PipeBarrier<PIPE_V>();
    this->Finish(out, pair.y, pair, lanes);
    PipeBarrier<PIPE_V>();  // the mask or the next tile overwrites the work area and the sums
    mask_.Clear(out, tile.pitch, tile.lead, tile.unit, tile.units, pair.f, pair.y);
    if constexpr (kPacked) {
      if (tile.lead > 0) {
        firstBlock_.Repeat(out, count, tile.lead);
      }
    }
    if constexpr (kWholeBlocksOnly) {
      if (TailBytes(this->t_) > 0) {
        TailsByWords(out[this->t_.tileLanes], out, tile.pitch, length_, tile.units,
                     tails_.template Get<float>());
      }
    }
    this->CloseTile(in, out);
  }

  // The sum of each row in a block of its own.
  __aicore__ inline LocalTensor<float> Sum(const LocalTensor<float>& f, const Tile& tile,
                                           const LocalTensor<float>& scratch) {
    LocalTensor<float> sums = sums_.template Get<float>();
    const LocalTensor<float> spread = spread_.template Get<float>();
    if (OnCircles()) {
      if constexpr (kPacks) {
        sums = packed_.Sum(sums, f, tile.units, tile.lead);
      }
      if (tile.units == 1) {
        return sums;
      }
    } else {
      SumRows(sums, f, tile.pitch, Width(), tile.units, scratch, spread);
    }
    PipeBarrier<PIPE_V>();
    SpreadSums(spread, sums, tile.units);
    return spread;
  }

  const uint32_t length_;            // elements of a row
  TBuf<TPosition::VECCALC> sums_;    // one sum per row
  TBuf<TPosition::VECCALC> spread_;  // each sum in a block of its own
  TBuf<TPosition::VECCALC> tails_;   // what tails of rows are made of
  PackedRows<float> packed_;
  FirstBlock<float> firstBlock_;
  Mask& mask_;
};

template <typename T, typename Step, bool kPacked = false>
__aicore__ inline void RunRows(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  TPipe pipe;
  const Step step;
  NoMask mask;
  ReduceRows<T, Step, kPacked> path(&pipe, y, g, out, t, step, mask);
  path.Process();
}

template <typename T, typename Step>
__aicore__ inline void RunPacked(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  if constexpr (kPacks) {
    RunRows<T, Step, true>(y, g, out, t);
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_WHOLE_ROWS_H_
