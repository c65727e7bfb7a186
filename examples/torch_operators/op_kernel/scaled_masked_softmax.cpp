// SPDX-License-Identifier: Apache-2.0
// ScaledMaskedSoftmax: y = softmax(mask ? -10000 : scale * x) of each row, in fp32 and rounded once.
//
// A row lies in UB as a whole. What its columns are filled up with to a repeat of 64 has mask 1 and is left out of the sum.
#include <type_traits>

#include "kernel_operator.h"
#include "scaled_masked_softmax_tiling.h"

namespace scaledmaskedsoftmax {

using AscendC::HardEvent;
using AscendC::LocalTensor;
using AscendC::TPosition;

constexpr uint32_t kRepeatLanes = 64;
constexpr float kMasked = -10000.0F;

template <typename T>
class Kernel {
 public:
  __aicore__ inline Kernel(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR mask, GM_ADDR y,
                           const ScaledMaskedSoftmaxTilingData& tiling)
      : t_(tiling), columns_(static_cast<uint32_t>(tiling.columns)) {
    const int64_t all = t_.batch * t_.heads * t_.rows;
    first_ = AscendC::GetBlockIdx() * t_.rowsPerCore;
    last_ = first_ + t_.rowsPerCore < all ? first_ + t_.rowsPerCore : all;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(x), all * columns_);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), all * columns_);
    maskGm_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(mask),
                            t_.maskBatch * t_.maskHeads * t_.rows * columns_);
    pipe->InitBuffer(xIn_, 2, kSoftmaxColumns * sizeof(T));
    pipe->InitBuffer(maskIn_, 2, kSoftmaxColumns);
    pipe->InitBuffer(out_, 2, kSoftmaxColumns * sizeof(T));
    pipe->InitBuffer(lanes_, 3 * kSoftmaxColumns * sizeof(float));
    pipe->InitBuffer(halves_, kSoftmaxColumns * sizeof(half));
    pipe->InitBuffer(bits_, kSoftmaxColumns / 8);
    pipe->InitBuffer(one_, 32);
  }

  __aicore__ inline void Process() {
    for (int64_t row = first_; row < last_; ++row) {
      Row(row);
    }
  }

 private:
  __aicore__ static inline void Step() { AscendC::PipeBarrier<PIPE_V>(); }

  // The place of the mask's row for a row of x.
  __aicore__ inline int64_t MaskRow(int64_t row) const {
    const int64_t matrix = row / t_.rows;
    const int64_t batch = t_.maskBatch == 1 ? 0 : matrix / t_.heads;
    const int64_t head = t_.maskHeads == 1 ? 0 : matrix % t_.heads;
    return (batch * t_.maskHeads + head) * t_.rows + row % t_.rows;
  }

  __aicore__ inline void Row(int64_t row) {
    const auto count = static_cast<int32_t>(columns_);
    const uint32_t whole = (columns_ + kRepeatLanes - 1) / kRepeatLanes * kRepeatLanes;
    const LocalTensor<float> x = lanes_.Get<float>();
    const LocalTensor<float> mask = x[kSoftmaxColumns];
    const LocalTensor<float> work = x[2 * kSoftmaxColumns];
    AscendC::Duplicate(x, 0.0F, static_cast<int32_t>(whole));
    AscendC::Duplicate(mask, 1.0F, static_cast<int32_t>(whole));
    Step();
    LoadX(x, row, count);
    LoadMask(mask, row, count);
    AscendC::Muls(x, x, t_.scale, count);
    AscendC::Duplicate(work, 0.0F, static_cast<int32_t>(whole));
    Step();
    AscendC::Compare(bits_.Get<uint8_t>(), mask, work, AscendC::CMPMODE::EQ, whole);
    Step();
    AscendC::Select(x, bits_.Get<uint8_t>(), x, kMasked, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE,
                    whole);
    Step();
    AscendC::ReduceMax<float>(one_.Get<float>(), x, work, count);
    AscendC::Adds(x, x, -Read(), count);
    Step();
    AscendC::Exp(x, x, count);
    Step();
    AscendC::ReduceSum<float>(one_.Get<float>(), x, work, count);
    const float sum = Read();
    AscendC::Duplicate(work, sum, count);
    Step();
    AscendC::Div(x, x, work, count);
    Step();
    Store(x, row, count);
  }

  __aicore__ inline float Read() {
    Wait<HardEvent::V_S>();
    const float value = one_.Get<float>().GetValue(0);
    Wait<HardEvent::S_V>();
    return value;
  }

  template <HardEvent event>
  __aicore__ static inline void Wait() {
    const auto id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    AscendC::SetFlag<event>(id);
    AscendC::WaitFlag<event>(id);
  }

  __aicore__ inline void LoadX(const LocalTensor<float>& x, int64_t row, int32_t count) {
    LocalTensor<T> in = xIn_.template AllocTensor<T>();
    AscendC::DataCopyPad(in, xGm_[row * columns_],
                         {1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0},
                         AscendC::DataCopyPadExtParams<T>());
    xIn_.EnQue(in);
    in = xIn_.template DeQue<T>();
    if constexpr (std::is_same_v<T, float>) {
      AscendC::Adds(x, in, 0.0F, count);
    } else {
      AscendC::Cast(x, in, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(count));
    }
    xIn_.FreeTensor(in);
    Step();
  }

  __aicore__ inline void LoadMask(const LocalTensor<float>& mask, int64_t row, int32_t count) {
    if (t_.aboveDiagonal != 0) {
      const auto kept = static_cast<int32_t>(row % t_.rows) + 1;
      AscendC::Duplicate(mask, 0.0F, kept < count ? kept : count);
      return Step();
    }
    LocalTensor<uint8_t> in = maskIn_.AllocTensor<uint8_t>();
    AscendC::DataCopyPad(in, maskGm_[MaskRow(row) * columns_],
                         {1, static_cast<uint32_t>(count), 0, 0, 0},
                         AscendC::DataCopyPadExtParams<uint8_t>());
    maskIn_.EnQue(in);
    in = maskIn_.DeQue<uint8_t>();
    const LocalTensor<half> halves = halves_.Get<half>();
    AscendC::Cast(halves, in, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(count));
    Step();
    AscendC::Cast(mask, halves, AscendC::RoundMode::CAST_NONE, static_cast<uint32_t>(count));
    maskIn_.FreeTensor(in);
    Step();
  }

  __aicore__ inline void Store(const LocalTensor<float>& x, int64_t row, int32_t count) {
    LocalTensor<T> y = out_.template AllocTensor<T>();
    if constexpr (std::is_same_v<T, float>) {
      AscendC::Adds(y, x, 0.0F, count);
    } else {
      AscendC::Cast(y, x, AscendC::RoundMode::CAST_RINT, static_cast<uint32_t>(count));
    }
    Step();
    out_.EnQue(y);
    y = out_.template DeQue<T>();
    AscendC::DataCopyPad(yGm_[row * columns_], y,
                         {1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
    out_.FreeTensor(y);
  }

  const ScaledMaskedSoftmaxTilingData& t_;
  const uint32_t columns_;
  int64_t first_;
  int64_t last_;
  AscendC::GlobalTensor<T> xGm_, yGm_;
  AscendC::GlobalTensor<uint8_t> maskGm_;
  AscendC::TQue<TPosition::VECIN, 1> xIn_, maskIn_;
  AscendC::TQue<TPosition::VECOUT, 1> out_;
  AscendC::TBuf<TPosition::VECCALC> lanes_, halves_, bits_, one_;
};

}  // namespace scaledmaskedsoftmax

extern "C" __global__ __aicore__ void scaled_masked_softmax(GM_ADDR x, GM_ADDR mask, GM_ADDR y,
                                                            GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(ScaledMaskedSoftmaxTilingData);
  GET_TILING_DATA_WITH_STRUCT(ScaledMaskedSoftmaxTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    AscendC::TPipe pipe;
    scaledmaskedsoftmax::Kernel<DTYPE_X> kernel(&pipe, x, mask, y, tilingData);
    kernel.Process();
  }
}
