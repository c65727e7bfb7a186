// SPDX-License-Identifier: Apache-2.0
// The row reduction of row_reduce.h for slabs [R, B] that fit in UB, or b columns of one: rows of columns lie one
// below the other, s is a vector of b lanes. GM is never transposed.
//
// Columns that are no whole blocks lie side by side in UB as they do in GM (folded_columns.h): `columns` of the tiling
// data says so, and [R, B] are then rows of many columns.
//
// Ascend 950 adds up columns of whole blocks in registers (register_columns.h): UB needs no work area then.
#ifndef OP_KERNEL_COMMON_WHOLE_SLABS_H_
#define OP_KERNEL_COMMON_WHOLE_SLABS_H_

#include "common/folded_columns.h"
#include "common/register_columns.h"
#include "common/row_reduce.h"

namespace rowreduce {

template <typename T, typename Step>
class ReduceSlabs : private WholeTiles<T, Step, ReduceSlabs<T, Step>> {
  using Base = WholeTiles<T, Step, ReduceSlabs>;
  using typename Base::Pair;
  using typename Base::Tile;
  friend Base;

 public:
  using Base::Process;

  __aicore__ inline ReduceSlabs(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                const RowReduceTilingData& t, const Step& step)
      : Base(pipe, y, g, out, t, step, 0, InRegisters(t)) {
    if constexpr (kFolds) {
      if (t.columns > 0) {
        folded_.Init(pipe, static_cast<uint32_t>(t.columns), static_cast<uint32_t>(t.inner),
                     static_cast<uint32_t>(t.tileUnits));
        ZeroInputs();
      }
    }
  }

 private:
  static constexpr bool kFolds = !kWholeBlocksOnly;

  __aicore__ inline static bool InRegisters(const RowReduceTilingData& t) {
    return kRegisters && t.columns == 0 && t.inner >= kRowReduceRegisterColumns;
  }

  __aicore__ inline bool Folds() const { return kFolds && this->t_.columns > 0; }

  // Folded columns: whole slabs, each on blocks of its own in UB.
  __aicore__ inline Tile At(int64_t unit, uint32_t units) const {
    const uint64_t reduce = static_cast<uint64_t>(this->t_.reduce);
    const uint64_t inner = static_cast<uint64_t>(this->t_.inner);
    const uint64_t slab = static_cast<uint64_t>(this->slab_);
    if (Folds()) {
      const BlockShape shape{units, static_cast<uint32_t>(slab), slab};
      return Tile{unit, units, unit * slab, shape, static_cast<uint32_t>(reduce * inner), 0};
    }
    const uint32_t rows = units * static_cast<uint32_t>(reduce);
    if (this->t_.colTiles == 1) {
      const uint32_t width = static_cast<uint32_t>(inner);
      return Tile{unit, units, unit * slab, BlockShape{rows, width, inner}, UbPitch<T>(width), 0};
    }
    const uint64_t column = static_cast<uint64_t>(unit % this->t_.colTiles) * this->t_.colTile;
    const uint64_t left = inner - column;
    const uint64_t most = static_cast<uint64_t>(this->t_.colTile);
    const uint32_t width = static_cast<uint32_t>(left < most ? left : most);
    const uint64_t offset = unit / this->t_.colTiles * reduce * inner + column;
    return Tile{unit, units, offset, BlockShape{rows, width, inner}, UbPitch<T>(width), 0};
  }

  __aicore__ inline void LoadTile(const Tile& tile) {
    LocalTensor<T> in = this->OpenTile();
    this->LoadPair(in, tile.offset, tile.shape, tile.pitch);
    this->inQueue_.EnQue(in);
  }

  __aicore__ inline void StoreTile(const LocalTensor<T>& out, const Tile& tile) {
    StoreBlocks(this->outGm_, tile.offset, out, tile.shape, tile.pitch);
  }

  __aicore__ inline void Compute(const Tile& tile, LocalTensor<T>& in) {
#if OP_KERNEL_REGISTERS
    if (InRegisters(this->t_)) {
      LocalTensor<T> results = this->outQueue_.template AllocTensor<T>();
      RegisterColumns<T, Step>::Reduce(InUb(results), InUb(in), InUb(in[this->t_.tileLanes]),
                                       static_cast<uint16_t>(tile.units),
                                       static_cast<uint16_t>(this->t_.reduce), tile.pitch);
      this->outQueue_.EnQue(results);
      this->inQueue_.FreeTensor(in);
      return;
    }
#endif
    const uint32_t count = tile.shape.blocks * tile.pitch;
    const uint32_t lanes = AlignUp(count, kRepeatLanes);
    const Pair pair = this->Prepared(in, lanes);
    PipeBarrier<PIPE_V>();
    // The tree's scratch is never larger than the output of the tile, which is written after the
    // last use of the sums.
    LocalTensor<T> out = this->outQueue_.template AllocTensor<T>();
    const uint32_t rows = static_cast<uint32_t>(this->t_.reduce);
    const uint32_t slab = count / tile.units;
    const Folded sums = Sum(pair.f, slab, tile.units, out.template ReinterpretCast<float>());
    ScaleSlabs(pair.y, rows, slab / rows, sums, tile.units);
    PipeBarrier<PIPE_V>();
    this->Finish(out, pair.y, pair, lanes);
    PipeBarrier<PIPE_V>();  // the next tile overwrites the work area
    this->CloseTile(in, out);
  }

  // The sum of each column, of each slab in a row of its own.
  __aicore__ inline Folded Sum(const LocalTensor<float>& f, uint32_t slab, uint32_t units,
                               const LocalTensor<float>& scratch) {
    if constexpr (kFolds) {
      if (Folds()) {
        ZeroMissing(f, slab, units);
        PipeBarrier<PIPE_V>();
        const uint32_t period = folded_.Period();
        return folded_.Spread(FoldRows(f, slab, slab, period, period, units, scratch), units);
      }
    }
    const uint32_t columns = slab / static_cast<uint32_t>(this->t_.reduce);
    return FoldRows(f, slab, slab, columns, columns, units, scratch);
  }

  // The whole blocks behind each slab, which a copy leaves as they are.
  __aicore__ inline void ZeroMissing(const LocalTensor<float>& slabs, uint32_t slab,
                                     uint32_t units) const {
    const uint32_t from = UbPitch<T>(static_cast<uint32_t>(this->slab_));
    ZeroColumns(slabs[from], slab, slab - from, units);
  }

  // Instructions over a whole tile read what lies behind its slabs before any copy has written there.
  __aicore__ inline void ZeroInputs() {
    if (this->t_.missing == 0) {
      return;
    }
    const int32_t floats = static_cast<int32_t>(2 * this->t_.tileLanes * sizeof(T) / sizeof(float));
    for (uint8_t i = 0; i < kBuffers; ++i) {
      LocalTensor<T> in = this->inQueue_.template AllocTensor<T>();
      AscendC::Duplicate(in.template ReinterpretCast<float>(), 0.0F, floats);
      this->inQueue_.FreeTensor(in);
    }
    PipeBarrier<PIPE_V>();
  }

  FoldedColumns<float> folded_;
};

template <typename T, typename Step>
__aicore__ inline void RunSlabs(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  TPipe pipe;
  const Step step;
  ReduceSlabs<T, Step> path(&pipe, y, g, out, t, step);
  path.Process();
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_WHOLE_SLABS_H_
