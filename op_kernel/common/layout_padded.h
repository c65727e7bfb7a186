// SPDX-License-Identifier: Apache-2.0
// Layout Padded, of AR: each row starts on a block of UB.
//
//   GM   | row 0 | row 1 | row 2 | ...        one copy for a tile where rows are whole blocks, else one for each row
//   UB   in, twice   y: row 0 | row 1 | ..   g: row 0 | row 1 | ..
//        work        the same in fp32, of 16-bit types
//        sums        s0 s1 ..                 a lane for each row
//        blocks      s0 s0 s0 s0 s0 s0 s0 s0 | s1 ..
//        out         row 0 | row 1 | ..       until it is written, the scratch of the sums
//
// Rows are added up in the order "tree" where they are multiples of 8 elements, else "mod64". UB:
// RowsUbOf.
//
// A Mask may clear elements of the result (scaled_masked_softmax_grad_v2/row_mask.h):
//   kRowLanes                       rows lie a multiple of this apart
//   Load(row, rows, lead)           enqueues the mask of these rows
//   Clear(out, lanes, lead, row, rows, halves, bits)   the last two are lanes of the tile that are free by then
#ifndef OP_KERNEL_COMMON_LAYOUT_PADDED_H_
#define OP_KERNEL_COMMON_LAYOUT_PADDED_H_

#include "common/row_reduce.h"

namespace rowreduce {

struct NoMask {
  static constexpr uint32_t kRowLanes = kBlockLanes;

  __aicore__ inline void Load(int64_t, uint32_t, uint32_t) {}
  template <typename T>
  __aicore__ inline void Clear(const LocalTensor<T>&, uint32_t, uint32_t, int64_t, uint32_t,
                               const LocalTensor<float>&, const LocalTensor<float>&) {}
};

// RowSums makes the sums of rows, each in a block of its own.
class RowSums {
 public:
  __aicore__ inline void Init(TPipe* pipe, const RowsUb& ub, uint32_t length, uint32_t pitch) {
    pipe->InitBuffer(sums_, ub.sums.bytes);
    pipe->InitBuffer(blocks_, ub.blocks.bytes);
    if constexpr (kWholeBlocksOnly) {  // SpreadSums reads what lies behind the sums
      AscendC::Duplicate(sums_.Get<float>(), 0.0F,
                         static_cast<int32_t>(ub.sums.bytes / sizeof(float)));
      PipeBarrier<PIPE_V>();
    } else {
      mod64_ = length % kBlockLanes != 0;
      if (mod64_) {
        rows_.Init(pipe, ub, length, pitch);
      }
    }
  }

  // f holds rows of `width` lanes, of which the first starts on lane `lead` of a block.
  __aicore__ inline LocalTensor<float> Sum(const LocalTensor<float>& f, uint32_t pitch,
                                           uint32_t width, uint32_t rows, uint32_t lead,
                                           const LocalTensor<float>& scratch) {
    LocalTensor<float> sums = sums_.Get<float>();
    const LocalTensor<float> blocks = blocks_.Get<float>();
    if (mod64_) {
      if constexpr (!kWholeBlocksOnly) {
        sums = rows_.Sum(sums, f, rows, lead);
      }
      if (rows == 1) {
        return sums;
      }
    } else {
      SumRows(sums, f, pitch, width, rows, scratch, blocks);
    }
    PipeBarrier<PIPE_V>();
    SpreadSums(blocks, sums, rows);
    return blocks;
  }

 private:
  bool mod64_ = false;
  TBuf<TPosition::VECCALC> sums_;
  TBuf<TPosition::VECCALC> blocks_;
  Mod64Rows<float> rows_;
};

template <typename T, typename Step, typename Mask = NoMask>
class Padded {
 public:
  using Element = T;
  static constexpr bool kExists = true;

  template <typename... OfMask>
  __aicore__ inline Padded(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t,
                           const Step& step = Step(), const OfMask&... ofMask)
      : tiles(TilesOfCore(t)),
        ub(RowsUbOf(TileShapeOf(t, sizeof(T)), false)),
        operands_(y, g, out, t, tiles.last * t.reduce),
        fp32_(static_cast<uint32_t>(t.tileLanes), step),
        length_(static_cast<uint32_t>(t.reduce)),
        // 16-bit rows that are whole blocks of fp32 follow each other: a tile is one copy.
        width_(!kWholeBlocksOnly && length_ % kBlockLanes == 0 ? length_ : WholeBlocks<T>(length_)),
        pitch_(AlignUp(width_, Mask::kRowLanes)),
        lanes_(static_cast<uint32_t>(t.tileLanes)),
        mask_(ofMask...) {
    if (length_ % kBlockLanes == 0) {
      tiles.alignUnits = LineUnits(t, t.reduce * static_cast<int64_t>(sizeof(T)));
    }
  }

  template <typename Loop>
  __aicore__ inline void Init(TPipe* pipe, Loop&) {
    fp32_.Init(pipe, ub.work);
    sums_.Init(pipe, ub, length_, pitch_);
    if (ub.tails.bytes > 0) {
      pipe->InitBuffer(tails_, ub.tails.bytes);
    }
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    operands_.HintInputs();
    CopyIn(in, operands_.y_, tile.unit * length_, Rows{tile.units, length_, length_}, pitch_);
    CopyIn(in[lanes_], operands_.g_, tile.unit * length_, Rows{tile.units, length_, length_},
           pitch_);
    loop.EnQueIn(in);
    mask_.Load(tile.unit, tile.units, 0);
  }

  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
    ComputeTile<T>(*this, fp32_, loop, tile, in);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    operands_.HintResults();
    CopyOutWithTails(operands_.out_, tile.unit * length_, out, Rows{tile.units, length_, length_},
                     pitch_, out[lanes_]);
  }

  __aicore__ inline uint32_t Count(const Tile& tile) const { return tile.units * pitch_; }

  __aicore__ inline LocalTensor<float> Sum(const LocalTensor<float>& f, const Tile& tile,
                                           const LocalTensor<float>& scratch) {
    ClearPads(f, pitch_, length_, WholeBlocks<T>(length_), tile.units);
    return sums_.Sum(f, pitch_, width_, tile.units, 0, scratch);
  }

  __aicore__ inline void Scale(const LocalTensor<float>& y, const LocalTensor<float>& sums,
                               const Tile& tile) const {
    ScaleRows(y, pitch_, width_, sums, tile.units);
  }

  __aicore__ inline void Finish(const LocalTensor<T>& out, const Tile& tile, const Pair& pair) {
    mask_.Clear(out, pitch_, 0, tile.unit, tile.units, pair.f, pair.y);
    if (ub.tails.bytes > 0) {
      MakeTails(out[lanes_], out, pitch_, length_, tile.units, tails_.template Get<float>());
    }
  }

  CoreTiles tiles;
  const RowsUb ub;

 private:
  Operands<T> operands_;
  Fp32Lanes<T, Step> fp32_;
  const uint32_t length_;  // elements of a row
  const uint32_t width_;   // lanes of it that are added up
  const uint32_t pitch_;   // lanes from one row to the next
  const uint32_t lanes_;   // of an operand in a buffer
  Mask mask_;
  RowSums sums_;
  TBuf<TPosition::VECCALC> tails_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_LAYOUT_PADDED_H_
