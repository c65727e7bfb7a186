// SPDX-License-Identifier: Apache-2.0
// GatherRows: y[i, :] = table[index[i], :]. SCALAR reads an index, then the row goes through UB tile by tile.
#include "gather_rows_tiling.h"
#include "kernel_operator.h"

namespace gatherrows {

using AscendC::LocalTensor;
using AscendC::TPosition;

constexpr int64_t kTile = 8192;  // elements: two buffers take 64 KB of UB in fp32

template <typename T>
class Kernel {
 public:
  __aicore__ inline Kernel(AscendC::TPipe* pipe, GM_ADDR table, GM_ADDR index, GM_ADDR y,
                           const GatherRowsTilingData& tiling)
      : tableRows_(tiling.tableRows), columns_(tiling.columns) {
    first_ = AscendC::GetBlockIdx() * tiling.indicesPerCore;
    last_ = first_ + tiling.indicesPerCore;
    last_ = last_ < tiling.indices ? last_ : tiling.indices;
    tableGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(table), tiling.tableRows * columns_);
    indexGm_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(index), tiling.indices);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(y), tiling.indices * columns_);
    pipe->InitBuffer(queue_, 2, kTile * sizeof(T));
  }

  __aicore__ inline void Process() {
    for (int64_t i = first_; i < last_; ++i) {
      const int64_t row = indexGm_.GetValue(i);
      ASSERT_MSG(row >= 0 && row < tableRows_, "index %ld is %ld, want 0 to %ld", i, row,
                 tableRows_ - 1);
      for (int64_t at = 0; at < columns_; at += kTile) {
        const int64_t left = columns_ - at;
        Copy(row * columns_ + at, i * columns_ + at, left < kTile ? left : kTile);
      }
    }
  }

 private:
  __aicore__ inline void Copy(int64_t from, int64_t to, int64_t count) {
    const AscendC::DataCopyExtParams bytes(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0);
    LocalTensor<T> part = queue_.template AllocTensor<T>();
    AscendC::DataCopyPad(part, tableGm_[from], bytes, AscendC::DataCopyPadExtParams<T>());
    queue_.EnQue(part);
    part = queue_.template DeQue<T>();
    AscendC::DataCopyPad(yGm_[to], part, bytes);
    queue_.FreeTensor(part);
  }

  const int64_t tableRows_;
  const int64_t columns_;
  int64_t first_;
  int64_t last_;
  AscendC::GlobalTensor<T> tableGm_, yGm_;
  AscendC::GlobalTensor<int64_t> indexGm_;
  // No vector instruction works on the rows, so one queue brings them in and out.
  AscendC::TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue_;
};

}  // namespace gatherrows

extern "C" __global__ __aicore__ void gather_rows(GM_ADDR table, GM_ADDR index, GM_ADDR y,
                                                  GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  REGISTER_TILING_DEFAULT(GatherRowsTilingData);
  GET_TILING_DATA_WITH_STRUCT(GatherRowsTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    AscendC::TPipe pipe;
    gatherrows::Kernel<DTYPE_TABLE> kernel(&pipe, table, index, y, tilingData);
    kernel.Process();
  }
}
