// SPDX-License-Identifier: Apache-2.0
// The element-wise family on a flat tensor:   out[i] = f(in0[i], in1[i], ...)   in fp32, rounded once.
//
// A Step gives an operator its arithmetic:
//   kInputs              number of tensors that are read
//   Compute(dst, in, n)  dst = f(in[0], ...) on n fp32 lanes. It may overwrite the inputs; dst overlaps none of them.
//
//   GM   in0: | tile 0 | tile 1 | ..       in1: | tile 0 | ..         each core starts on a GM line of 512 bytes
//   UB   in, twice   in0 of a tile | in1 of it
//        work        the same in fp32, of 16-bit types
//        out, twice  the results
//
// The loop is FullLoad, a unit is an element. No lane depends on another, so results do not depend on the split. UB:
// elementwise_data.h.
#ifndef OP_KERNEL_COMMON_ELEMENTWISE_H_
#define OP_KERNEL_COMMON_ELEMENTWISE_H_

#include <type_traits>

#include "common/elementwise_data.h"
#include "common/pipeline.h"

namespace elementwise {

// ReadScalar reads one element of GM by SCALAR, of a tensor that this kernel does not write.
template <typename T>
__aicore__ inline float ReadScalar(GM_ADDR address) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address), 1);
  if constexpr (std::is_same_v<T, bfloat16_t>) {
    return AscendC::ToFloat(tensor.GetValue(0));
  } else {
    return static_cast<float>(tensor.GetValue(0));
  }
}

// Cores whose tiles were alike would stay in step, and memory would be idle while all wait for its latency: large tiles
// are up to a tenth shorter on some cores.
__aicore__ inline CoreTiles TilesOfCore(const ElementwiseTilingData& t) {
  const int64_t core = AscendC::GetBlockIdx();
  const int64_t first = core * t.coreLanes + Min(core, t.extraCores) * t.lineLanes;
  const int64_t last = first + t.coreLanes + (core < t.extraCores ? t.lineLanes : 0);
  const int64_t step = t.tileLanes / t.lineLanes / kUnlikeSteps * t.lineLanes;
  return CoreTiles{first, Min(last, t.total), t.tileLanes - core % kUnlikeTiles * step};
}

template <typename T, typename Step>
class Elementwise {
 public:
  using Element = T;
  static constexpr uint32_t kInputs = Step::kInputs;

  __aicore__ inline Elementwise(GM_ADDR (&inputs)[kInputs], GM_ADDR out,
                                const ElementwiseTilingData& t, const Step& step)
      : tiles(TilesOfCore(t)),
        ub(UbOf(tiles.tileUnits, sizeof(T), kInputs)),
        step_(step),
        apart_(static_cast<uint32_t>(tiles.tileUnits)),
        resultsBypassL2_(t.resultsBypassL2) {
    const uint64_t size = static_cast<uint64_t>(t.total);
    for (uint32_t i = 0; i < kInputs; ++i) {
      in_[i].SetGlobalBuffer(reinterpret_cast<__gm__ T*>(inputs[i]), size);
      if (t.inputsBypassL2 != 0) {
        in_[i].SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
      }
    }
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), size);
  }

  template <typename Loop>
  __aicore__ inline void Init(TPipe* pipe, Loop&) {
    if (ub.work.bytes > 0) {
      pipe->InitBuffer(work_, ub.work.bytes);
    }
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    for (uint32_t i = 0; i < kInputs; ++i) {
      CopyIn(in[i * apart_], in_[i], static_cast<uint64_t>(tile.unit), tile.units);
    }
    loop.EnQueIn(in);
  }

  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
    const int32_t count = static_cast<int32_t>(tile.units);
    LocalTensor<T> out = loop.AllocOut();
    LocalTensor<float> lanes[kInputs];
    if constexpr (kFp32) {
      for (uint32_t i = 0; i < kInputs; ++i) {
        lanes[i] = in[i * apart_];
      }
      step_.Compute(out, lanes, count);
    } else {
      const LocalTensor<float> work = work_.template Get<float>();
      for (uint32_t i = 0; i < kInputs; ++i) {
        lanes[i] = work[i * apart_];
        AscendC::Cast(lanes[i], in[i * apart_], RoundMode::CAST_NONE, tile.units);
      }
      PipeBarrier<PIPE_V>();
      LocalTensor<float> result;
      // Two inputs leave room for an fp32 result in their buffer once they are widened.
      if constexpr (kInputs >= 2) {
        result = in.template ReinterpretCast<float>();
      } else {
        result = work[kInputs * apart_];
      }
      step_.Compute(result, lanes, count);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(out, result, RoundMode::CAST_RINT, tile.units);
      PipeBarrier<PIPE_V>();  // the next tile overwrites the work area
    }
    loop.EnQueOut(out);
    loop.FreeIn(in);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    HintTile(out_, stored_++, resultsBypassL2_);
    CopyOut(out_, static_cast<uint64_t>(tile.unit), out, tile.units);
  }

  const CoreTiles tiles;
  const TileUb ub;

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  const Step& step_;
  const uint32_t apart_;  // elements from one operand to the next
  const int64_t resultsBypassL2_;
  int64_t stored_ = 0;  // tiles stored so far
  GlobalTensor<T> in_[kInputs];
  GlobalTensor<T> out_;
  TBuf<TPosition::VECCALC> work_;  // fp32 lanes of the inputs
};

// Run is all of a kernel whose inputs are tensors of one shape.
template <typename T, typename Step>
__aicore__ inline void Run(GM_ADDR (&&inputs)[Step::kInputs], GM_ADDR out,
                           const ElementwiseTilingData& tiling, const Step& step) {
  TPipe pipe;
  Elementwise<T, Step> layout(inputs, out, tiling, step);
  RunFullLoad(&pipe, layout);
}

}  // namespace elementwise

#endif  // OP_KERNEL_COMMON_ELEMENTWISE_H_
