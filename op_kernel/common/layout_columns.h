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
// Columns that are no whole blocks lie side by side: SideBySide. Columns are added up in the order
// "tree". Ascend 950 adds them up in registers (RegisterColumns of registers.h) and needs no
// work area. UB: ColumnsUbOf, SideBySideUbOf.
#ifndef OP_KERNEL_COMMON_LAYOUT_COLUMNS_H_
#define OP_KERNEL_COMMON_LAYOUT_COLUMNS_H_

#include "common/registers.h"
#include "common/row_reduce.h"

namespace rowreduce {

// Columns that are no whole blocks lie side by side in UB as they do in GM. Copied row by row, a slab [R, B] of them would
// cost GM a request and UB a block for a few bytes, so a slab is one copy, seen as periods: the fewest lanes that B and a
// block of fp32 divide. Lanes b, B + b, 2 B + b ... of a period are column b.
//
//   GM       | B columns | B columns | ..                      R times
//   UB       | B | B | B | .. | B |                            a period
//            | B | B | B | .. | B |                            the next one
//   sums     | B | B | B | .. | B | B | ..                     of a slab, for as many lanes as are scaled at once
//
// Periods are added up to one. Every lane of it then becomes the sum of its column: lanes half of a period apart are
// added, then those a quarter apart, and so on down to B lanes. Where cores share an axis, a row is several periods.
//
// Lane is float. It is a parameter so that SoCs without Gather never compile this.
template <typename Lane>
class SideBySide {
 public:
  // `slabs` is the most slabs of a tile. It is 0 where cores share an axis, in rows of `width` lanes.
  __aicore__ inline void Init(TPipe* pipe, uint32_t columns, uint32_t width, uint32_t slabs) {
    const SideBySideUb ub = SideBySideUbOf(columns, width, slabs);
    columns_ = columns;
    period_ = static_cast<uint32_t>(PeriodOf(columns));
    width_ = slabs > 0 ? period_ + kScaledLanes : width;
    transposes_ = slabs > 0;
    pipe->InitBuffer(sums_, ub.sums.bytes);
    if (ub.periods.bytes > 0) {
      pipe->InitBuffer(periods_, ub.periods.bytes);
    }
    if (!transposes_) {
      pipe->InitBuffer(offsets_, ub.offsets.bytes);
      const LocalTensor<int32_t> offsets = offsets_.template Get<int32_t>();
      AscendC::CreateVecIndex(offsets, 0, period_);
      PipeBarrier<PIPE_V>();
      AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(Lane)),
                    static_cast<int32_t>(period_));
      PipeBarrier<PIPE_V>();
    }
  }

  __aicore__ inline uint32_t Period() const { return period_; }

  // Returns rows in which each lane has the sum of its column, one for each slab, from the sums over a period.
  __aicore__ inline Matrix ForRow(const Matrix& sums, uint32_t slabs) {
    const LocalTensor<Lane> all = sums_.template Get<Lane>();
    for (uint32_t u = 0; u < slabs; u += kStreams) {
      const uint32_t count = Min(kStreams, slabs - u);
      const LocalTensor<Lane> rows = all[u * width_];
      const LocalTensor<Lane> periods = sums.lanes[u * sums.pitch];
      uint32_t done = period_;
      if (period_ == columns_) {
        CopyRows(rows, periods, sums.pitch, period_, count);
      } else if (transposes_) {
        done = Transpose(rows, periods, sums.pitch, count);
      } else {
        Rotate(rows, periods);
      }
      for (; done < width_; done *= 2) {
        PipeBarrier<PIPE_V>();
        CopyRows(rows[done], rows, width_, Min(done, width_ - done), count);
      }
      PipeBarrier<PIPE_V>();
    }
    return Matrix{all, width_, width_};
  }

  // y[u, :] *= the sums of slab u, kScaledLanes lanes at a time: such a piece of a slab starts on a lane of a period that is a
  // multiple of a block, and the sums of a slab go on behind their period as far as a piece does.
  __aicore__ inline void Scale(const LocalTensor<Lane>& y, uint32_t slab, const Matrix& sums,
                               uint32_t slabs) const {
    for (uint32_t u = 0; u < slabs; ++u) {
      for (uint32_t c = 0; c < slab; c += kScaledLanes) {
        const LocalTensor<Lane> piece = y[u * slab + c];
        AscendC::Mul(piece, piece, sums.lanes[u * sums.pitch + c % period_],
                     static_cast<int32_t>(Min(kScaledLanes, slab - c)));
      }
    }
  }

 private:
  __aicore__ inline void CopyRows(const LocalTensor<Lane>& dst, const LocalTensor<Lane>& src,
                                  uint32_t srcPitch, uint32_t lanes, uint32_t rows) const {
    AscendC::DataCopy(dst, src,
                      AscendC::DataCopyParams(
                          static_cast<uint16_t>(rows), static_cast<uint16_t>(lanes / kBlockLanes),
                          static_cast<uint16_t>((srcPitch - lanes) / kBlockLanes),
                          static_cast<uint16_t>((width_ - lanes) / kBlockLanes)));
  }

  // Transpose takes the periods of at most 16 slabs at once: their lanes become positions, each of which is whole blocks.
  // Returns how many lanes of `rows` have their sums then.
  __aicore__ inline uint32_t Transpose(const LocalTensor<Lane>& rows,
                                       const LocalTensor<Lane>& periods, uint32_t pitch,
                                       uint32_t slabs) {
    const LocalTensor<Lane> positions = periods_.template Get<Lane>();
    StreamsToLanes(positions, periods, period_, pitch, slabs);
    PipeBarrier<PIPE_V>();
    for (uint32_t half = period_ / 2; half >= columns_; half /= 2) {
      AscendC::Add(positions, positions, positions[half * kStreams],
                   static_cast<int32_t>(half * kStreams));
      PipeBarrier<PIPE_V>();
    }
    const uint32_t filled = Max(period_, kStreams);  // a row is 16 lanes or more
    for (uint32_t done = columns_; done < filled; done *= 2) {
      AscendC::DataCopy(positions[done * kStreams], positions, done * kStreams);
      PipeBarrier<PIPE_V>();
    }
    LanesToStreams(rows, positions, filled, width_, slabs);
    return filled;
  }

  // Rotate takes the period of one slab, and less of UB: it reads the period from a later lane on, where it lies twice.
  __aicore__ inline void Rotate(const LocalTensor<Lane>& row, const LocalTensor<Lane>& period) {
    const LocalTensor<Lane> twice = periods_.template Get<Lane>();
    const LocalTensor<Lane> rotated = twice[2 * period_];
    AscendC::DataCopy(twice, period, period_);
    for (uint32_t by = period_ / 2; by >= columns_; by /= 2) {
      AscendC::DataCopy(twice[period_], by == period_ / 2 ? period : twice, period_);
      PipeBarrier<PIPE_V>();
      AscendC::Gather(rotated, twice, offsets_.template Get<uint32_t>(),
                      by * static_cast<uint32_t>(sizeof(Lane)), period_);
      PipeBarrier<PIPE_V>();
      AscendC::Add(by / 2 >= columns_ ? twice : row, rotated, twice, static_cast<int32_t>(period_));
      PipeBarrier<PIPE_V>();
    }
  }

  uint32_t columns_;
  uint32_t period_;
  uint32_t width_;
  bool transposes_;
  TBuf<TPosition::VECCALC> sums_;
  TBuf<TPosition::VECCALC> periods_;  // transposed, or two times in a row and rotated
  TBuf<TPosition::VECCALC> offsets_;  // byte offsets of the lanes of a Gather
};

template <typename T, typename Step>
class Columns {
 public:
  using Element = T;
  static constexpr bool kExists = true;

  __aicore__ inline Columns(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t)
      : tiles(TilesOfCore(t)),
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
        if (PitchOfSlab() > WholeBlocks<T>(static_cast<uint32_t>(slab_))) {
          loop.ZeroInputs(static_cast<uint32_t>(2 * t_.tileLanes * sizeof(T)));
        }
      }
    }
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    operands_.HintInputs();
    const Place place = PlaceOf(tile);
    CopyIn(in, operands_.y_, place.offset, place.rows, place.pitch);
    CopyIn(in[lanes_], operands_.g_, place.offset, place.rows, place.pitch);
    loop.EnQueIn(in);
  }

  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
#if OP_KERNEL_REGISTERS
    if (InRegisters(t_)) {
      LocalTensor<T> out = loop.AllocOut();
      RegisterColumns<T, Step>::Reduce(InUb(out), InUb(in), InUb(in[lanes_]),
                                       static_cast<uint16_t>(tile.units),
                                       static_cast<uint16_t>(t_.reduce), PlaceOf(tile).pitch);
      loop.EnQueOut(out);
      loop.FreeIn(in);
      return;
    }
#endif
    ComputeTile<T>(*this, fp32_, loop, tile, in);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    operands_.HintResults();
    const Place place = PlaceOf(tile);
    CopyOut(operands_.out_, place.offset, out, place.rows, place.pitch);
  }

  __aicore__ inline uint32_t Count(const Tile& tile) const {
    const Place place = PlaceOf(tile);
    return place.rows.count * place.pitch;
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
        return side_.ForRow(AddHalves(f, slab, rows_ * period, period, period, tile.units, scratch),
                            tile.units);
      }
    }
    const uint32_t columns = slab / rows_;
    return AddHalves(f, slab, slab, columns, columns, tile.units, scratch);
  }

  __aicore__ inline void Scale(const LocalTensor<float>& y, const Matrix& sums,
                               const Tile& tile) const {
    const uint32_t slab = Count(tile) / tile.units;
    if constexpr (!kWholeBlocksOnly) {
      if (sideBySide_) {
        side_.Scale(y, slab, sums, tile.units);
        return;
      }
    }
    ScaleSlabs(y, rows_, slab / rows_, sums, tile.units);
  }

  __aicore__ inline void Finish(const LocalTensor<T>&, const Tile&, const Pair&) {}

  const CoreTiles tiles;
  const TileUb ub;

 private:
  __aicore__ inline static bool InRegisters(const RowReduceTilingData& t) {
    return ColumnsInRegisters(kRegisters, t.inner, t.sideRows);
  }

  // Place says where a tile lies in GM, and how far apart its rows are in UB.
  struct Place {
    uint64_t offset;
    Rows rows;
    uint32_t pitch;
  };

  __aicore__ inline static uint64_t EndOf(const RowReduceTilingData& t) {
    const int64_t slab = t.reduce * t.inner;
    return static_cast<uint64_t>(t.colTiles == 1 ? TilesOfCore(t).last * slab : t.outer * slab);
  }

  // PitchOfSlab is how far apart slabs are whose columns lie side by side.
  __aicore__ inline uint32_t PitchOfSlab() const {
    return WholeBlocks<T>(rows_ * static_cast<uint32_t>(t_.sideLanes));
  }

  __aicore__ inline Place PlaceOf(const Tile& tile) const {
    const uint64_t inner = static_cast<uint64_t>(t_.inner);
    if (sideBySide_) {
      return Place{tile.unit * slab_, Rows{tile.units, static_cast<uint32_t>(slab_), slab_},
                   PitchOfSlab()};
    }
    const uint32_t rows = tile.units * rows_;
    if (t_.colTiles == 1) {
      const uint32_t width = static_cast<uint32_t>(inner);
      return Place{tile.unit * slab_, Rows{rows, width, inner}, WholeBlocks<T>(width)};
    }
    const uint64_t column = static_cast<uint64_t>(tile.unit % t_.colTiles) * t_.colTile;
    const uint32_t width =
        static_cast<uint32_t>(Min(inner - column, static_cast<uint64_t>(t_.colTile)));
    return Place{tile.unit / t_.colTiles * slab_ + column, Rows{rows, width, inner},
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
