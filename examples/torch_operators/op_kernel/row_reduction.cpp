// SPDX-License-Identifier: Apache-2.0
// RowReduction: y[row] = sum, maximum or minimum of x[row, :], in fp32.
//
// Rows of at most 64 columns come many at a time, and one instruction reduces a repeat for each of them. A longer row
// comes tile by tile.
#include "kernel_operator.h"
#include "row_reduction_tiling.h"

namespace rowreduction {

using AscendC::HardEvent;
using AscendC::LocalTensor;
using AscendC::TPosition;
using Kind = RowReductionKind;

constexpr int64_t kRepeatLanes = 64;
constexpr int64_t kBlockLanes = 8;
constexpr int64_t kTile = 8192;       // elements: two buffers take 64 KB of UB
constexpr int64_t kWorkLanes = 2048;  // more than the steps of a reduction of a tile leave behind

class Kernel {
 public:
  __aicore__ inline Kernel(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR y,
                           const RowReductionTilingData& tiling)
      : columns_(tiling.columns), kind_(static_cast<Kind>(tiling.kind)) {
    first_ = AscendC::GetBlockIdx() * tiling.rowsPerCore;
    last_ = first_ + tiling.rowsPerCore;
    last_ = last_ < tiling.rows ? last_ : tiling.rows;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), tiling.rows * tiling.columns);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), tiling.rows);
    pipe->InitBuffer(in_, 2, kTile * sizeof(float));
    pipe->InitBuffer(out_, 2, kResultRows * sizeof(float));
    pipe->InitBuffer(work_, kWorkLanes * sizeof(float));
    pipe->InitBuffer(part_, kBlockLanes * sizeof(float));
  }

  __aicore__ inline void Process() {
    for (int64_t row = first_; row < last_; row += kResultRows) {
      const int64_t left = last_ - row;
      const auto rows = static_cast<uint32_t>(left < kResultRows ? left : kResultRows);
      LocalTensor<float> y = out_.AllocTensor<float>();
      if (columns_ <= kRepeatLanes) {
        ShortRows(y, row, rows);
      } else {
        for (uint32_t i = 0; i < rows; ++i) {
          LongRow(y, i, (row + i) * columns_);
        }
      }
      out_.EnQue(y);
      y = out_.DeQue<float>();
      AscendC::DataCopyPad(yGm_[row], y, {1, static_cast<uint32_t>(rows * sizeof(float)), 0, 0, 0});
      out_.FreeTensor(y);
    }
  }

 private:
  __aicore__ inline LocalTensor<float> Load(int64_t from, uint32_t rows, uint32_t columns) {
    LocalTensor<float> x = in_.AllocTensor<float>();
    const auto bytes = static_cast<uint32_t>(columns * sizeof(float));
    AscendC::DataCopyPad(x, xGm_[from], {static_cast<uint16_t>(rows), bytes, 0, 0, 0},
                         AscendC::DataCopyPadExtParams<float>());
    in_.EnQue(x);
    return in_.DeQue<float>();
  }

  __aicore__ inline void ShortRows(const LocalTensor<float>& y, int64_t row, uint32_t rows) {
    const auto lanes = static_cast<int32_t>(columns_);
    const auto blocks = static_cast<int32_t>((columns_ + kBlockLanes - 1) / kBlockLanes);
    const auto repeats = static_cast<int32_t>(rows);
    LocalTensor<float> x = Load(row * columns_, rows, static_cast<uint32_t>(columns_));
    constexpr auto order = AscendC::ReduceOrder::ORDER_ONLY_VALUE;
    if (kind_ == Kind::kSum) {
      AscendC::WholeReduceSum(y, x, lanes, repeats, 1, 1, blocks);
    } else if (kind_ == Kind::kMaximum) {
      AscendC::WholeReduceMax(y, x, lanes, repeats, 1, 1, blocks, order);
    } else {
      AscendC::WholeReduceMin(y, x, lanes, repeats, 1, 1, blocks, order);
    }
    in_.FreeTensor(x);
  }

  __aicore__ inline void LongRow(const LocalTensor<float>& y, uint32_t place, int64_t from) {
    float all = 0;
    for (int64_t at = 0; at < columns_; at += kTile) {
      const int64_t left = columns_ - at;
      const float part = Part(from + at, static_cast<uint32_t>(left < kTile ? left : kTile));
      all = at == 0 ? part : Both(all, part);
    }
    y.SetValue(place, all);
    Wait<HardEvent::S_MTE3>();
  }

  __aicore__ inline float Both(float one, float other) const {
    if (kind_ == Kind::kSum) {
      return one + other;
    }
    if (one != one || other != other) {
      return one + other;  // NaN
    }
    return (kind_ == Kind::kMaximum) == (one > other) ? one : other;
  }

  __aicore__ inline float Part(int64_t from, uint32_t lanes) {
    LocalTensor<float> x = Load(from, 1, lanes);
    const LocalTensor<float> part = part_.Get<float>();
    const LocalTensor<float> work = work_.Get<float>();
    const auto count = static_cast<int32_t>(lanes);
    if (kind_ == Kind::kSum) {
      AscendC::ReduceSum<float>(part, x, work, count);
    } else if (kind_ == Kind::kMaximum) {
      AscendC::ReduceMax<float>(part, x, work, count);
    } else {
      AscendC::ReduceMin<float>(part, x, work, count);
    }
    in_.FreeTensor(x);
    Wait<HardEvent::V_S>();
    const float value = part.GetValue(0);
    Wait<HardEvent::S_V>();
    return value;
  }

  // No queue orders SCALAR with the other units.
  template <HardEvent event>
  __aicore__ static inline void Wait() {
    const auto id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  const int64_t columns_;
  const Kind kind_;
  int64_t first_;
  int64_t last_;
  AscendC::GlobalTensor<float> xGm_, yGm_;
  AscendC::TQue<TPosition::VECIN, 1> in_;
  AscendC::TQue<TPosition::VECOUT, 1> out_;
  AscendC::TBuf<TPosition::VECCALC> work_, part_;
};

}  // namespace rowreduction

extern "C" __global__ __aicore__ void row_reduction(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                                    GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(RowReductionTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReductionTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    AscendC::TPipe pipe;
    rowreduction::Kernel kernel(&pipe, x, y, tilingData);
    kernel.Process();
  }
}
