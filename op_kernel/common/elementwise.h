// SPDX-License-Identifier: Apache-2.0
// The element-wise family on a flat tensor:   out[i] = f(in0[i], in1[i], ...)   in fp32, rounded
// once.
//
// A Step gives the operator its arithmetic:
//   kInputs              number of tensors that are streamed
//   Compute(dst, in, n)  dst = f(in[0], ...) on n fp32 lanes. It may overwrite the inputs; dst
//                        overlaps none of them.
// Tiling is ElementwiseTilingData or a plain struct with the same fields;
// op_host/common/elementwise_tiling.h fills it. Cores and tiles start on GM lines of 512 bytes, and
// no lane depends on another, so results do not depend on the split.
//
// UB per lane of a tile: 2 * kInputs queue buffers in, 2 out, each sizeof(T); 16-bit types add 4 B
// of work per input, and 4 B for dst when there is one input only. fp32 lanes of two operands lie 256
// B further apart.
#ifndef OP_KERNEL_COMMON_ELEMENTWISE_H_
#define OP_KERNEL_COMMON_ELEMENTWISE_H_

#include <type_traits>

#include "common/block_copy.h"
#include "common/elementwise_data.h"
#include "kernel_operator.h"

namespace elementwise {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::PipeBarrier;
using AscendC::RoundMode;
using AscendC::TBuf;
using AscendC::TPipe;
using AscendC::TPosition;
using AscendC::TQue;

constexpr int32_t kQueueDepth = 1;
constexpr uint8_t kBuffers = 2;  // double buffering
// Tiles are a multiple of 128 fp32 lanes. Half of that more, and the blocks of two operands that one
// instruction reads together lie in different UB bank groups, which halves its time.
constexpr uint32_t kApartLanes = 64;
constexpr int64_t kUnlikeTiles = 4;
constexpr int64_t kUnlikeSteps = 32;  // of a tile; one is the difference between two cores

// Contiguous elements in and out, to the byte. The one place that a SoC without DataCopyPad would
// change.
template <typename T>
__aicore__ inline void CopyIn(const LocalTensor<T>& dst, const GlobalTensor<T>& src, int64_t offset,
                              uint32_t count) {
  rowreduce::LoadBlocks(dst, src, static_cast<uint64_t>(offset),
                        rowreduce::BlockShape{1, count, count});
}

template <typename T>
__aicore__ inline void CopyOut(const GlobalTensor<T>& dst, int64_t offset,
                               const LocalTensor<T>& src, uint32_t count) {
  rowreduce::StoreBlocks(dst, static_cast<uint64_t>(offset), src,
                         rowreduce::BlockShape{1, count, count});
}

// One element of GM on the scalar unit. Only for tensors that this kernel does not write.
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

template <typename T, typename Tiling, typename Step>
class Elementwise {
 public:
  static constexpr uint32_t kInputs = Step::kInputs;

  __aicore__ inline Elementwise(TPipe* pipe, GM_ADDR (&inputs)[kInputs], GM_ADDR out,
                                const Tiling& t, const Step& step)
      : t_(t), step_(step), tile_(TileOfCore(t)), apart_(tile_ + kApartLanes) {
    const uint64_t size = static_cast<uint64_t>(t.total);
    for (uint32_t i = 0; i < kInputs; ++i) {
      inGm_[i].SetGlobalBuffer(reinterpret_cast<__gm__ T*>(inputs[i]), size);
      if (t.pastL2 != 0) {
        inGm_[i].SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);
      }
    }
    outGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), size);

    const int64_t core = AscendC::GetBlockIdx();
    const bool extra = core < t.extraCores;
    first_ = core * t.lanesPerCore + (extra ? core : t.extraCores) * t.lineLanes;
    last_ = first_ + t.lanesPerCore + (extra ? t.lineLanes : 0);
    last_ = last_ < t.total ? last_ : t.total;

    pipe->InitBuffer(inQueue_, kBuffers, static_cast<uint32_t>(kInputs * InApart() * sizeof(T)));
    pipe->InitBuffer(outQueue_, kBuffers, static_cast<uint32_t>(tile_ * sizeof(T)));
    if constexpr (!kFp32) {
      pipe->InitBuffer(work_, static_cast<uint32_t>(kWorkTensors * apart_ * sizeof(float)));
    }
  }

  // The copies of a tile are issued before the arithmetic of the tile in front of it: the scalar unit
  // would not reach them while the queue of the vector pipe is full.
  __aicore__ inline void Process() {
    int64_t stored = 0;  // tiles
    Load(first_);
    for (int64_t at = first_; at < last_; at += tile_) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      if (at + tile_ < last_) {
        Load(at + tile_);
      }
      const uint32_t count = CountAt(at);
      Compute(in, static_cast<int32_t>(count));
      LocalTensor<T> out = outQueue_.template DeQue<T>();
      rowreduce::HintTile(outGm_, stored++, t_.pastL2 - 1);
      CopyOut(outGm_, at, out, count);
      outQueue_.FreeTensor(out);
    }
  }

 private:
  static constexpr bool kFp32 = std::is_same_v<T, float>;
  // Two 16-bit inputs leave room for one fp32 result in their own buffer once they are widened.
  static constexpr bool kResultInInput = kInputs >= 2;
  static constexpr uint32_t kWorkTensors = kInputs + (kResultInInput ? 0 : 1);

  // Cores whose tiles are alike would stay in step, and leave memory idle while all wait for its
  // latency: large tiles are up to a tenth shorter on some.
  __aicore__ static inline uint32_t TileOfCore(const Tiling& t) {
    const int64_t step = t.tileLanes / t.lineLanes / kUnlikeSteps;
    return static_cast<uint32_t>(t.tileLanes -
                                 AscendC::GetBlockIdx() % kUnlikeTiles * step * t.lineLanes);
  }

  __aicore__ inline uint32_t InApart() const { return kFp32 ? apart_ : tile_; }

  __aicore__ inline uint32_t CountAt(int64_t at) const {
    const int64_t left = last_ - at;
    return left < tile_ ? static_cast<uint32_t>(left) : tile_;
  }

  // Enqueues the tile that begins with element `at`.
  __aicore__ inline void Load(int64_t at) {
    LocalTensor<T> in = inQueue_.template AllocTensor<T>();
    for (uint32_t i = 0; i < kInputs; ++i) {
      CopyIn(in[i * InApart()], inGm_[i], at, CountAt(at));
    }
    inQueue_.EnQue(in);
  }

  __aicore__ inline void Compute(LocalTensor<T>& in, int32_t count) {
    LocalTensor<T> out = outQueue_.template AllocTensor<T>();
    LocalTensor<float> lanes[kInputs];
    if constexpr (kFp32) {
      for (uint32_t i = 0; i < kInputs; ++i) {
        lanes[i] = in[i * InApart()];
      }
      step_.Compute(out, lanes, count);
    } else {
      const LocalTensor<float> work = work_.template Get<float>();
      for (uint32_t i = 0; i < kInputs; ++i) {
        lanes[i] = work[i * apart_];
        AscendC::Cast(lanes[i], in[i * InApart()], RoundMode::CAST_NONE,
                      static_cast<uint32_t>(count));
      }
      PipeBarrier<PIPE_V>();
      LocalTensor<float> result;
      if constexpr (kResultInInput) {
        result = in.template ReinterpretCast<float>();
      } else {
        result = work[kInputs * apart_];
      }
      step_.Compute(result, lanes, count);
      PipeBarrier<PIPE_V>();
      AscendC::Cast(out, result, RoundMode::CAST_RINT, static_cast<uint32_t>(count));
      PipeBarrier<PIPE_V>();  // the next tile overwrites the work area
    }
    outQueue_.EnQue(out);
    inQueue_.FreeTensor(in);
  }

  const Tiling& t_;
  const Step& step_;
  const uint32_t tile_;   // elements that a buffer holds of one operand
  const uint32_t apart_;  // fp32 lanes from one operand to the next
  GlobalTensor<T> inGm_[kInputs];
  GlobalTensor<T> outGm_;
  int64_t first_;  // elements of this core
  int64_t last_;
  TQue<TPosition::VECIN, kQueueDepth> inQueue_;
  TQue<TPosition::VECOUT, kQueueDepth> outQueue_;
  TBuf<TPosition::VECCALC> work_;  // fp32 lanes of the inputs
};

// All of a kernel whose inputs are tensors of one shape.
template <typename T, typename Step>
__aicore__ inline void Run(GM_ADDR (&&inputs)[Step::kInputs], GM_ADDR out,
                           const ElementwiseTilingData& tiling, const Step& step) {
  TPipe pipe;
  Elementwise<T, ElementwiseTilingData, Step> kernel(&pipe, inputs, out, tiling, step);
  kernel.Process();
}

}  // namespace elementwise

#endif  // OP_KERNEL_COMMON_ELEMENTWISE_H_
