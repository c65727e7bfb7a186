// SPDX-License-Identifier: Apache-2.0
// Layout Packed, of AR: rows that are no whole blocks follow each other in UB as they do in GM.
//
//   GM   .. | row 0     | row 1     | row 2     | ..      from any element on, in one copy
//   UB   in        ...y y y y y|y y y y y|y y ..          `lead` lanes, so that GM and UB agree where a block starts
//        partials  row 0: element i in partial sum i modulo 64 | row 1: ..
//        blocks    s of row 0, eight times | s of row 1 | ..
//        out       ...r r r r r|r r r r r|.. | r r r      and the first block once more, from where it is stored
//
// Copied one by one, each row would cost GM a start off its lines and whole lines for both ends.
// Rows that start on the same lane of a block are added up and scaled by one instruction where a
// repeat stride reaches them; a mask keeps their neighbours out. Rows are added up in the order
// "mod64". UB: RowsUbOf. Ascend310P and Ascend910 have no such tiles.
#ifndef OP_KERNEL_COMMON_LAYOUT_PACKED_H_
#define OP_KERNEL_COMMON_LAYOUT_PACKED_H_

#include "common/layout_padded.h"

namespace rowreduce {

// FirstBlock copies the first results of a tile to a block of their own behind the last one, as a
// copy to GM starts on a block. Lane is float. It is a parameter so that SoCs without Gather never
// compile this.
template <typename Lane>
class FirstBlock {
 public:
  // `offsets` holds the offsets of the results of a block, 16 words.
  __aicore__ inline void Init(TPipe* pipe, const UbBuffer& offsets, uint32_t elementBytes) {
    pipe->InitBuffer(offsets_, offsets.bytes);
    const LocalTensor<int32_t> words = offsets_.Get<int32_t>();
    AscendC::CreateVecIndex(words, 0, kStreams);
    PipeBarrier<PIPE_V>();
    AscendC::Muls(words, words, static_cast<int32_t>(elementBytes), static_cast<int32_t>(kStreams));
    PipeBarrier<PIPE_V>();
  }

  // The first result is element `lead` of its block. `count` counts the lanes in front of it, too.
  template <typename T>
  __aicore__ inline void Copy(const LocalTensor<T>& results, uint32_t count, uint32_t lead) {
    using Word = std::conditional_t<sizeof(T) == sizeof(Lane), Lane, half>;
    const LocalTensor<Word> words = results.template ReinterpretCast<Word>();
    AscendC::Gather(words[WholeBlocks<T>(count)], words, offsets_.Get<uint32_t>(),
                    lead * static_cast<uint32_t>(sizeof(T)), kBlockElements<T> - lead);
  }

 private:
  TBuf<TPosition::VECCALC> offsets_;
};

template <typename T, typename Step, typename Mask = NoMask>
class Packed {
 public:
  using Element = T;
  static constexpr bool kExists = !kWholeBlocksOnly;

  template <typename... OfMask>
  __aicore__ inline Packed(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t,
                           const Step& step = Step(), const OfMask&... ofMask)
      : tiles(TilesOfCore(t)),
        ub(RowsUbOf(TileShapeOf(t, sizeof(T)), true)),
        operands_(y, g, out, t, tiles.last * t.reduce),
        fp32_(static_cast<uint32_t>(t.tileLanes), step),
        length_(static_cast<uint32_t>(t.reduce)),
        lanes_(static_cast<uint32_t>(t.tileLanes)),
        stride_(static_cast<uint32_t>(PeriodOf(t.reduce)) / length_),
        mask_(ofMask...) {
    tiles.alignUnits = LineUnits(t, t.reduce * static_cast<int64_t>(sizeof(T)));
  }

  template <typename Loop>
  __aicore__ inline void Init(TPipe* pipe, Loop&) {
    fp32_.Init(pipe, ub.work);
    sums_.Init(pipe, ub, length_, length_);
    first_.Init(pipe, ub.offsets, sizeof(T));
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    operands_.HintInputs();
    const uint32_t count = tile.units * length_;
    CopyRowIn(in, operands_.y_, tile.unit * length_, count, LeadOf(tile));
    CopyRowIn(in[lanes_], operands_.g_, tile.unit * length_, count, LeadOf(tile));
    loop.EnQueIn(in);
    mask_.Load(tile.unit, tile.units, LeadOf(tile));
  }

  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
    ComputeTile<T>(*this, fp32_, loop, tile, in);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    operands_.HintResults();
    const uint32_t count = tile.units * length_;
    if (LeadOf(tile) > 0) {
      CopyRowOut(operands_.out_, tile.unit * length_, out, count, LeadOf(tile));
    } else {
      CopyOut(operands_.out_, tile.unit * length_, out, count);
    }
  }

  __aicore__ inline uint32_t Count(const Tile& tile) const {
    return LeadOf(tile) + tile.units * length_;
  }

  __aicore__ inline LocalTensor<float> Sum(const LocalTensor<float>& f, const Tile& tile,
                                           const LocalTensor<float>& scratch) {
    return sums_.Sum(f, length_, length_, tile.units, LeadOf(tile), scratch);
  }

  // One instruction multiplies 64 lanes of all rows that start on the same lane of a block. Where
  // no stride reaches them, rows are multiplied one by one, first the even ones and then the odd
  // ones: neighbours share a block.
  __aicore__ inline void Scale(const LocalTensor<float>& y, const LocalTensor<float>& sums,
                               const Tile& tile) const {
    const uint32_t lead = LeadOf(tile);
    const uint32_t rows = tile.units;
    if (FitsStride(length_)) {
      for (uint32_t r = 0; r < Min(stride_, rows); ++r) {
        ScaleByStride(y, lead + r * length_, sums[r * kBlockLanes], CeilDiv(rows - r, stride_));
      }
      return;
    }
    for (uint32_t odd = 0; odd < 2; ++odd) {
      for (uint32_t r = odd; r < rows; r += 2) {
        ScaleRow(y, lead + r * length_, sums[r * kBlockLanes]);
      }
      PipeBarrier<PIPE_V>();
    }
  }

  __aicore__ inline void Finish(const LocalTensor<T>& out, const Tile& tile, const Pair& pair) {
    mask_.Clear(out, length_, LeadOf(tile), tile.unit, tile.units, pair.f, pair.y);
    if (LeadOf(tile) > 0) {
      first_.Copy(out, Count(tile), LeadOf(tile));
    }
  }

  CoreTiles tiles;
  const RowsUb ub;

 private:
  // LeadOf is the element of a block of UB on which a tile starts: that of its address in GM.
  __aicore__ inline uint32_t LeadOf(const Tile& tile) const {
    return static_cast<uint32_t>(static_cast<uint64_t>(tile.unit) * length_ % kBlockElements<T>);
  }

  // Scales the row that starts on lane `start`, and the `count` - 1 rows that are stride_, 2 stride_ ... behind it.
  __aicore__ inline void ScaleByStride(const LocalTensor<float>& y, uint32_t start,
                                       const LocalTensor<float>& sums, uint32_t count) const {
    const uint8_t stride = Bits8(stride_ * length_ / kBlockLanes);
    const BinaryRepeatParams p(1, 1, 0, stride, stride, Bits8(stride_));
    const uint32_t lead = start % kBlockLanes;
    const uint32_t end = lead + length_;
    for (uint32_t c = 0; c < end; c += kRepeatLanes) {
      const LocalTensor<float> lanes = y[start - lead + c];
      uint64_t mask[2] = {MaskOf(c == 0 ? lead : 0, end - c), 0};
      Repeat<Op::kMul>(lanes, lanes, sums, mask, count, p);
      PipeBarrier<PIPE_V>();
    }
  }

  __aicore__ inline void ScaleRow(const LocalTensor<float>& y, uint32_t start,
                                  const LocalTensor<float>& sum) const {
    const BinaryRepeatParams p(1, 1, 0, kRepeatBlocks, kRepeatBlocks, 0);
    const uint32_t lead = start % kBlockLanes;
    const LocalTensor<float> first = y[start - lead];
    uint64_t mask[2] = {MaskOf(lead, kRepeatLanes), 0};
    Repeat<Op::kMul>(first, first, sum, mask, 1, p);
    const uint32_t left = lead + length_ - kRepeatLanes;
    const LocalTensor<float> whole = first[kRepeatLanes];
    Repeat<Op::kMul>(whole, whole, sum, static_cast<uint64_t>(kRepeatLanes), left / kRepeatLanes,
                     p);
    if (left % kRepeatLanes > 0) {
      const LocalTensor<float> tail = whole[left / kRepeatLanes * kRepeatLanes];
      Repeat<Op::kMul>(tail, tail, sum, static_cast<uint64_t>(left % kRepeatLanes), 1, p);
    }
  }

  Operands<T> operands_;
  Fp32Lanes<T, Step> fp32_;
  const uint32_t length_;  // elements of a row
  const uint32_t lanes_;   // of an operand in a buffer
  const uint32_t stride_;  // rows from one row to the next that starts on the same lane of a block
  Mask mask_;
  RowSums sums_;
  FirstBlock<float> first_;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_LAYOUT_PACKED_H_
