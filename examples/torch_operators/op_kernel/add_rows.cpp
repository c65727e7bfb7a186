// SPDX-License-Identifier: Apache-2.0
// AddRows: y[index[i], :] += x[i, :], on zeros, in fp32: what GatherRows is the gradient of.
//
// Each core owns some rows of y. It clears them, looks at every index, and adds the rows that are its own by atomic
// copies, in the order of the index: so the sums do not depend on the number of cores.
#include "add_rows_tiling.h"
#include "kernel_operator.h"

namespace addrows {

using AscendC::LocalTensor;
using AscendC::TPosition;

constexpr int64_t kTile = 8192;  // elements: three buffers take 96 KB of UB

class Kernel {
 public:
  __aicore__ inline Kernel(AscendC::TPipe* pipe, GM_ADDR x, GM_ADDR index, GM_ADDR y,
                           const AddRowsTilingData& tiling)
      : tiling_(tiling), columns_(tiling.columns) {
    first_ = AscendC::GetBlockIdx() * tiling.rowsPerCore;
    last_ = first_ + tiling.rowsPerCore;
    last_ = last_ < tiling.rows ? last_ : tiling.rows;
    xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), tiling.indices * columns_);
    indexGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(index), tiling.indices);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), tiling.rows * columns_);
    pipe->InitBuffer(queue_, 2, kTile * sizeof(float));
    pipe->InitBuffer(zeros_, 1, kTile * sizeof(float));
  }

  __aicore__ inline void Process() {
    Clear();
    AscendC::SetAtomicAdd<float>();
    for (int64_t i = 0; i < tiling_.indices; ++i) {
      const int64_t row = indexGm_.GetValue(i);
      ASSERT_MSG(row >= 0 && row < tiling_.rows, "index %ld is %ld, want 0 to %ld", i, row,
                 tiling_.rows - 1);
      if (row >= first_ && row < last_ && row != tiling_.skipped) {
        for (int64_t at = 0; at < columns_; at += kTile) {
          AddPart(i * columns_ + at, row * columns_ + at, Least(columns_ - at, kTile));
        }
      }
    }
    AscendC::SetAtomicNone();
  }

 private:
  __aicore__ static inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

  __aicore__ static inline AscendC::DataCopyExtParams Bytes(int64_t count) {
    return {1, static_cast<uint32_t>(count * sizeof(float)), 0, 0, 0};
  }

  __aicore__ inline void Clear() {
    LocalTensor<float> zeros = zeros_.AllocTensor<float>();
    AscendC::Duplicate(zeros, 0.0F, static_cast<int32_t>(kTile));
    zeros_.EnQue(zeros);
    zeros = zeros_.DeQue<float>();
    const int64_t end = last_ * columns_;
    for (int64_t at = first_ * columns_; at < end; at += kTile) {
      AscendC::DataCopyPad(yGm_[at], zeros, Bytes(Least(end - at, kTile)));
    }
    zeros_.FreeTensor(zeros);
    AscendC::PipeBarrier<PIPE_MTE3>();
  }

  __aicore__ inline void AddPart(int64_t from, int64_t to, int64_t count) {
    LocalTensor<float> part = queue_.AllocTensor<float>();
    AscendC::DataCopyPad(part, xGm_[from], Bytes(count), AscendC::DataCopyPadExtParams<float>());
    queue_.EnQue(part);
    part = queue_.DeQue<float>();
    AscendC::DataCopyPad(yGm_[to], part, Bytes(count));
    AscendC::PipeBarrier<PIPE_MTE3>();  // the next copy may add to the same row
    queue_.FreeTensor(part);
  }

  const AddRowsTilingData& tiling_;
  const int64_t columns_;
  int64_t first_;
  int64_t last_;
  AscendC::GlobalTensor<float> xGm_, yGm_;
  AscendC::GlobalTensor<int64_t> indexGm_;
  AscendC::TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue_;
  AscendC::TQue<TPosition::VECOUT, 1> zeros_;
};

}  // namespace addrows

extern "C" __global__ __aicore__ void add_rows(GM_ADDR x, GM_ADDR index, GM_ADDR y,
                                               GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(AddRowsTilingData);
  GET_TILING_DATA_WITH_STRUCT(AddRowsTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    AscendC::TPipe pipe;
    addrows::Kernel kernel(&pipe, x, index, y, tilingData);
    kernel.Process();
  }
}
