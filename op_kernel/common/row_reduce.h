// SPDX-License-Identifier: Apache-2.0
// The row reductions on a view [A, R, B]:   s[a, b] = sum_r f(g, y)   out = h(f, s * y')
//
// A Step gives an operator its two functions, on fp32 lanes. Zeros pad rows, so f(0, 0) must be 0:
//   kSumOfG                f(g, y) is g, so a sum needs no y
//   Prepare(f, y, n)       f holds g on entry and f(g, y) on return; y holds y' on return
//   Combine(dst, f, sy, n) dst = h(f, s * y'); dst may be f or sy
// and on Ascend 950 once more on registers, with a mask in place of n (layout_registers.h).
//
// Five concepts (docs/ops/softmax_grad.md):
//   View      AR (B == 1: rows) or ARA (columns)
//   Layout    how a tile lies in UB: layout_padded.h, layout_packed.h, layout_transposed.h, layout_columns.h,
//             layout_registers.h
//   Loop      pipeline.h, or shared_axis.h where UB does not hold R
//   SumOrder  sum_tree.h, sum_mod64.h, or that of the registers
// This file has what the layouts share: the operands in GM, and their fp32 lanes.
#ifndef OP_KERNEL_COMMON_ROW_REDUCE_H_
#define OP_KERNEL_COMMON_ROW_REDUCE_H_

#include <type_traits>

#include "common/pipeline.h"
#include "common/row_reduce_data.h"
#include "common/sum_mod64.h"

namespace rowreduce {

__aicore__ inline CoreTiles TilesOfCore(const RowReduceTilingData& t) {
  const int64_t core = AscendC::GetBlockIdx();
  const int64_t first = core * t.coreUnits + Min(core, t.extraCores);
  return CoreTiles{first, first + t.coreUnits + (core < t.extraCores ? 1 : 0), t.tileUnits};
}

// LineUnits is how many units are whole GM lines, or as near to that as the height of a tile allows.
// Tiles start on multiples of it. The first tile of a core is shorter for that.
__aicore__ inline int64_t LineUnits(const RowReduceTilingData& t, int64_t unitBytes) {
  int64_t units = 1;
  while (!kWholeBlocksOnly && t.coreUnits > t.tileUnits && t.tileUnits % (2 * units) == 0 &&
         unitBytes * units % kLineBytes != 0) {
    units *= 2;
  }
  return units;
}

__aicore__ inline TileShape TileShapeOf(const RowReduceTilingData& t, uint32_t elementBytes) {
  return TileShape{t.reduce, t.tileUnits, t.tileLanes, elementBytes, kWholeBlocksOnly};
}

// Operands are y, g and the result in GM.
template <typename T>
class Operands {
 public:
  // Copies of legacy.h read whole blocks. They stop at `end`, where the units of the next core begin: it may already
  // write its results there, if they take the place of an operand.
  __aicore__ inline Operands(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t,
                             uint64_t end)
      : inputsBypassL2_(t.inputsBypassL2), resultsBypassL2_(t.resultsBypassL2) {
    const uint64_t size = static_cast<uint64_t>(t.outer * t.reduce * t.inner);
    y_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), kWholeBlocksOnly ? end : size);
    g_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(g), kWholeBlocksOnly ? end : size);
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), size);
  }

  // HintInputs is called before the copies of each tile, or once before all.
  __aicore__ inline void HintInputs() {
    HintTile(y_, loaded_, inputsBypassL2_);
    HintTile(g_, loaded_++, inputsBypassL2_);
  }
  __aicore__ inline void HintResults() { HintTile(out_, stored_++, resultsBypassL2_); }

  GlobalTensor<T> y_;
  GlobalTensor<T> g_;
  GlobalTensor<T> out_;

 private:
  const int64_t inputsBypassL2_;  // leading tiles of this core
  const int64_t resultsBypassL2_;
  int64_t loaded_ = 0;
  int64_t stored_ = 0;
};

struct Pair {
  LocalTensor<float> y;
  LocalTensor<float> f;
};

// Fp32Lanes gives y and g of a tile in fp32: where they lie, or converted into a work area. y comes
// first in a buffer, g `lanes` elements behind it.
template <typename T, typename Step>
class Fp32Lanes {
 public:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  __aicore__ inline Fp32Lanes(uint32_t lanes, const Step& step) : step_(step), lanes_(lanes) {}

  __aicore__ inline void Init(TPipe* pipe, const UbBuffer& work) {
    if (work.bytes > 0) {
      pipe->InitBuffer(work_, work.bytes);
    }
  }

  __aicore__ inline Pair Widen(const LocalTensor<T>& in, uint32_t count) {
    if constexpr (kFp32) {
      return Pair{in, in[lanes_]};
    } else {
      const Pair pair{work_.template Get<float>(), WidenedG()};
      AscendC::Cast(pair.y, in, RoundMode::CAST_NONE, count);
      AscendC::Cast(pair.f, in[lanes_], RoundMode::CAST_NONE, count);
      PipeBarrier<PIPE_V>();
      return pair;
    }
  }

  // Makes f(g, y) alone. y is not widened where f is g.
  __aicore__ inline LocalTensor<float> Summands(const LocalTensor<T>& in, uint32_t count) {
    LocalTensor<float> f;
    if constexpr (!Step::kSumOfG) {
      const Pair pair = Widen(in, count);
      step_.Prepare(pair.f, pair.y, count);
      f = pair.f;
    } else if constexpr (kFp32) {
      f = in[lanes_];
    } else {
      f = WidenedG();
      AscendC::Cast(f, in[lanes_], RoundMode::CAST_NONE, count);
    }
    PipeBarrier<PIPE_V>();
    return f;
  }

  // out = h(f, s * y'), where pair.y holds s * y' already. A 16-bit result is made in `spare`, which may be pair.y.
  __aicore__ inline void Combine(const LocalTensor<T>& out, const LocalTensor<float>& spare,
                                 const Pair& pair, uint32_t count) {
    if constexpr (kFp32) {
      step_.Combine(out, pair.f, pair.y, count);
    } else {
      step_.Combine(spare, pair.f, pair.y, count);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(out, spare, kToNearestEven, count);
    }
  }

  const Step step_;

 private:
  __aicore__ inline LocalTensor<float> WidenedG() {
    return work_.template Get<float>()[lanes_ + static_cast<uint32_t>(kWorkApart) / 2];
  }

  const uint32_t lanes_;
  TBuf<TPosition::VECCALC> work_;
};

// ComputeTile computes a tile by vector instructions, for the layouts Padded, Packed and Columns. A Layout gives
//   Count(tile)                    lanes of an operand, with those that pad it
//   Sum(f, tile, scratch)          the sums, in a form that Scale takes
//   Scale(y, sums, tile)           y *= s
//   Finish(out, tile, pair)        what is left to do to results
template <typename T, typename Step, typename Layout, typename Loop>
__aicore__ inline void ComputeTile(Layout& layout, Fp32Lanes<T, Step>& fp32, Loop& loop,
                                   const Tile& tile, LocalTensor<T>& in) {
  constexpr bool kFp32 = Fp32Lanes<T, Step>::kFp32;
  // Whole repeats are faster than a part of one.
  const uint32_t lanes = AlignUp(layout.Count(tile), kRepeatLanes);
  const Pair pair = fp32.Widen(in, lanes);
  if constexpr (!kFp32) {
    loop.FreeIn(in);
  }
  fp32.step_.Prepare(pair.f, pair.y, lanes);
  if constexpr (!Step::kSumOfG) {
    PipeBarrier<PIPE_V>();
  }
  // The scratch of a sum is never larger than the results, which are written after the last use of the sums.
  LocalTensor<T> out = loop.AllocOut();
  const auto sums = layout.Sum(pair.f, tile, out.template ReinterpretCast<float>());
  PipeBarrier<PIPE_V>();
  layout.Scale(pair.y, sums, tile);
  PipeBarrier<PIPE_V>();
  fp32.Combine(out, pair.y, pair, lanes);
  PipeBarrier<PIPE_V>();  // the next tile overwrites the work area and the sums
  layout.Finish(out, tile, pair);
  loop.EnQueOut(out);
  if constexpr (kFp32) {
    loop.FreeIn(in);
  }
}

// Run is all of a kernel on one layout of full load. A layout whose kExists is false has no tiles on this SoC.
template <typename Layout>
__aicore__ inline void Run(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t) {
  if constexpr (Layout::kExists) {
    TPipe pipe;
    Layout layout(y, g, out, t);
    RunFullLoad(&pipe, layout);
  }
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_ROW_REDUCE_H_
