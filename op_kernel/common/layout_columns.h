// SPDX-License-Identifier: Apache-2.0
// Layout Columns, of ARA: rows of b columns lie below each other, each from a block on. A sum takes whole rows and never
// adds lanes of one row to each other. GM is not transposed.
//
//   GM   slab 0: | row 0 | row 1 | .. | row R - 1 |   slab 1: | row 0 | ..        a tile is slabs, or b columns of one
//   UB   in, twice   y: rows of b columns   g: the same
//        work        the same in fp32, of 16-bit types
//        sums        s of column 0, 1, .. b - 1, in a row for each slab
//        out         the results; until they are written, the scratch of the sums
//
// Columns that are no whole blocks lie side by side (side_by_side.h). Columns are added up in the
// order "tree". Ascend 950 adds them up in registers (RegisterColumns of registers.h) and needs no
// work area. UB: ColumnsUbOf, SideBySideUbOf.
#ifndef OP_KERNEL_COMMON_LAYOUT_COLUMNS_H_
#define OP_KERNEL_COMMON_LAYOUT_COLUMNS_H_

#include "common/registers.h"
#include "common/row_reduce.h"
#include "common/side_by_side.h"

namespace rowreduce {

template <typename T, typename Step>
class Columns {
 public:
  using Element = T;
  static constexpr bool kExists = true;

  __aicore__ inline Columns(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t)
      : share(ShareOfCore(t)),
        ub(ColumnsUbOf(TileShapeOf(t, sizeof(T)), InRegisters(t))),
        operands_(y, g, out, t, EndOf(t)),
        fp32_(static_cast<uint32_t>(t.tileLanes), Step()),
        t_(t),
        slab_(static_cast<uint64_t>(t.reduce) * t.inner),
        sideBySide_(!kWholeBlocksOnly && t.sideRows > 0),
        rows_(static_cast<uint32_t>(sideBySide_ ? t.sideRows : t.reduce)),
        lanes_(static_cast<uint32_t>(t.tileLanes)) {}

  template <typename Loop>
  __aicore__ inline void Init(TPipe* pipe, Loop& loop) {
    fp32_.Init(pipe, ub.work);
    if constexpr (!kWholeBlocksOnly) {
      if (sideBySide_) {
        side_.Init(pipe, static_cast<uint32_t>(t_.inner), static_cast<uint32_t>(t_.sideLanes),
                   static_cast<uint32_t>(t_.tileUnits));
        if (rows_ * static_cast<uint64_t>(t_.sideLanes) > slab_) {
          loop.ZeroInputs(static_cast<uint32_t>(2 * t_.tileLanes * sizeof(T)));
        }
      }
    }
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    operands_.HintInputs();
    const Piece piece = PieceOf(tile);
    CopyIn(in, operands_.y_, piece.offset, piece.rows, piece.pitch);
    CopyIn(in[lanes_], operands_.g_, piece.offset, piece.rows, piece.pitch);
    loop.EnQueIn(in);
  }

  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
#if OP_KERNEL_REGISTERS
    if (InRegisters(t_)) {
      LocalTensor<T> out = loop.AllocOut();
      RegisterColumns<T, Step>::Reduce(InUb(out), InUb(in), InUb(in[lanes_]),
                                       static_cast<uint16_t>(tile.units),
                                       static_cast<uint16_t>(t_.reduce), PieceOf(tile).pitch);
      loop.EnQueOut(out);
      loop.FreeIn(in);
      return;
    }
#endif
    ComputeTile<T>(*this, fp32_, loop, tile, in);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    operands_.HintResults();
    const Piece piece = PieceOf(tile);
    CopyOut(operands_.out_, piece.offset, out, piece.rows, piece.pitch);
  }

  __aicore__ inline uint32_t Count(const Tile& tile) const {
    const Piece piece = PieceOf(tile);
    return piece.rows.count * piece.pitch;
  }

  __aicore__ inline Matrix Sum(const LocalTensor<float>& f, const Tile& tile,
                               const LocalTensor<float>& scratch) {
    const uint32_t slab = Count(tile) / tile.units;
    if constexpr (!kWholeBlocksOnly) {
      if (sideBySide_) {
        // No copy writes the whole blocks behind a slab.
        const uint32_t from = WholeBlocks<T>(static_cast<uint32_t>(slab_));
        ZeroColumns(f[from], slab, slab - from, tile.units);
        PipeBarrier<PIPE_V>();
        const uint32_t period = side_.Period();
        return side_.ForRow(FoldRows(f, slab, slab, period, period, tile.units, scratch),
                            tile.units);
      }
    }
    const uint32_t columns = slab / rows_;
    return FoldRows(f, slab, slab, columns, columns, tile.units, scratch);
  }

  __aicore__ inline void Scale(const LocalTensor<float>& y, const Matrix& sums,
                               const Tile& tile) const {
    ScaleSlabs(y, rows_, Count(tile) / tile.units / rows_, sums, tile.units);
  }

  __aicore__ inline void Finish(const LocalTensor<T>&, const Tile&, const Pair&) {}

  const Share share;
  const TileUb ub;

 private:
  __aicore__ inline static bool InRegisters(const RowReduceTilingData& t) {
    return ColumnsInRegisters(kRegisters, t.inner, t.sideRows);
  }

  // Piece says where a tile lies in GM, and how far apart its rows are in UB.
  struct Piece {
    uint64_t offset;
    Rows rows;
    uint32_t pitch;
  };

  __aicore__ inline static uint64_t EndOf(const RowReduceTilingData& t) {
    const int64_t slab = t.reduce * t.inner;
    return static_cast<uint64_t>(t.colTiles == 1 ? ShareOfCore(t).last * slab : t.outer * slab);
  }

  __aicore__ inline Piece PieceOf(const Tile& tile) const {
    const uint64_t inner = static_cast<uint64_t>(t_.inner);
    if (sideBySide_) {
      return Piece{tile.unit * slab_, Rows{tile.units, static_cast<uint32_t>(slab_), slab_},
                   rows_ * static_cast<uint32_t>(t_.sideLanes)};
    }
    const uint32_t rows = tile.units * rows_;
    if (t_.colTiles == 1) {
      const uint32_t width = static_cast<uint32_t>(inner);
      return Piece{tile.unit * slab_, Rows{rows, width, inner}, WholeBlocks<T>(width)};
    }
    const uint64_t column = static_cast<uint64_t>(tile.unit % t_.colTiles) * t_.colTile;
    const uint32_t width =
        static_cast<uint32_t>(Min(inner - column, static_cast<uint64_t>(t_.colTile)));
    return Piece{tile.unit / t_.colTiles * slab_ + column, Rows{rows, width, inner},
                 WholeBlocks<T>(width)};
  }

  Operands<T> operands_;
  Fp32Lanes<T, Step> fp32_;
  const RowReduceTilingData& t_;
  const uint64_t slab_;    // elements of a slab
  const bool sideBySide_;  // columns are no whole blocks
  const uint32_t rows_;    // rows of a slab in UB
  const uint32_t lanes_;   // of an operand in a buffer
  SideBySide<float> side_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_LAYOUT_COLUMNS_H_
