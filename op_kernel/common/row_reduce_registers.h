// SPDX-License-Identifier: Apache-2.0
// Row reductions (row_reduce.h) of rows that fit, on SoCs with vector functions: a tile of rows is one piece of GM on
// both ways, whatever the length of a row. Long rows are read from UB once for the sums of the tile and once for its
// results, with no fp32 work area (register_rows.h); short ones lie flat (flat_rows.h).
#ifndef OP_KERNEL_COMMON_ROW_REDUCE_REGISTERS_H_
#define OP_KERNEL_COMMON_ROW_REDUCE_REGISTERS_H_

#include "common/flat_rows.h"
#include "common/register_rows.h"
#include "common/row_reduce.h"

namespace rowreduce {

#if OP_KERNEL_REGISTERS

template <typename T, typename Step>
class ReduceRegisters : private RowOperands<T> {
 public:
  __aicore__ inline ReduceRegisters(TPipe* pipe, GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                    const RowReduceTilingData& t)
      : RowOperands<T>(y, g, out, t),
        t_(t),
        flat_(t.reduce * static_cast<int64_t>(sizeof(T)) <= kRowReduceFlatBytes) {
    pipe->InitBuffer(inQueue_, kBuffers,
                     static_cast<uint32_t>(2 * t.tileLanes * sizeof(T)) + kBehindRows);
    pipe->InitBuffer(outQueue_, kBuffers, static_cast<uint32_t>(t.tileLanes * sizeof(T)));
    const int64_t lanes = kFp32 ? t.tileLanes : 2 * t.tileLanes;
    pipe->InitBuffer(sums_, flat_ ? static_cast<uint32_t>(lanes * sizeof(float)) + kBehindRows
                                  : static_cast<uint32_t>(t.tileUnits * sizeof(float)));
  }

  // The copies of a tile are issued before the arithmetic of the tile in front of it.
  __aicore__ inline void Process() {
    int64_t row = this->first_;
    uint32_t rows = Load(row);
    while (rows > 0) {
      LocalTensor<T> in = inQueue_.template DeQue<T>();
      const int64_t next = row + rows;
      const uint32_t nextRows = Load(next);
      LocalTensor<T> out = outQueue_.template AllocTensor<T>();
      Compute(out, in, rows);
      inQueue_.FreeTensor(in);
      outQueue_.EnQue(out);
      out = outQueue_.template DeQue<T>();
      this->HintResults();
      const uint32_t count = rows * static_cast<uint32_t>(t_.reduce);
      StoreBlocks(this->outGm_, row * t_.reduce, out, BlockShape{1, count, count});
      outQueue_.FreeTensor(out);
      row = next;
      rows = nextRows;
    }
  }

 private:
  // Enqueues a tile; how many rows it has.
  __aicore__ inline uint32_t Load(int64_t row) {
    const int64_t left = this->last_ - row;
    const uint32_t rows = static_cast<uint32_t>(left < t_.tileUnits ? left : t_.tileUnits);
    if (rows > 0) {
      const uint32_t count = rows * static_cast<uint32_t>(t_.reduce);
      const BlockShape piece{1, count, count};
      LocalTensor<T> in = inQueue_.template AllocTensor<T>();
      this->HintInputs();
      LoadBlocks(in, this->yGm_, row * t_.reduce, piece);
      LoadBlocks(in[t_.tileLanes], this->gGm_, row * t_.reduce, piece);
      inQueue_.EnQue(in);
    }
    return rows;
  }

  __aicore__ inline void Compute(const LocalTensor<T>& out, const LocalTensor<T>& in,
                                 uint32_t rows) {
    __ubuf__ T* y = InUb(in);
    __ubuf__ T* g = InUb(in[t_.tileLanes]);
    __ubuf__ float* sums = InUb(sums_.template Get<float>());
    if (flat_) {
      ComputeFlat(InUb(out), sums, y, g, rows);
    } else if (t_.reduce * sizeof(T) % kBlockBytes == 0) {
      ComputeRows<true>(InUb(out), sums, y, g, rows);
    } else {
      ComputeRows<false>(InUb(out), sums, y, g, rows);
    }
    PipeBarrier<PIPE_V>();  // the sums of the next tile
  }

  __aicore__ inline void ComputeFlat(__ubuf__ T* out, __ubuf__ float* sums, __ubuf__ T* y,
                                     __ubuf__ T* g, uint32_t rows) {
    using Rows = FlatRows<T, Step>;
    const uint32_t length = static_cast<uint32_t>(t_.reduce);
    if (rows * length <= kFewElements && (rows == 1 || length * sizeof(T) % kBlockBytes == 0)) {
      Rows::Whole(out, y, g, length, static_cast<uint16_t>(rows));
      return;
    }
    __ubuf__ float* f = nullptr;
    if constexpr (kFp32) {
      f = g;
    } else {
      f = sums + t_.tileLanes;
    }
    if constexpr (!kFp32 || !Step::kSumOfG) {
      Rows::Prepare(f, y, g, rows * length);
      PipeBarrier<PIPE_V>();
    }
    if (length % kBlockLanes == 0) {
      Rows::template Sum<true>(sums, f, length, static_cast<uint16_t>(rows));
    } else {
      Rows::template Sum<false>(sums, f, length, static_cast<uint16_t>(rows));
    }
    PipeBarrier<PIPE_V>();
    Rows::Combine(out, sums, f, y, rows * length);
  }

  template <bool kAligned>
  __aicore__ inline void ComputeRows(__ubuf__ T* out, __ubuf__ float* sums, __ubuf__ T* y,
                                     __ubuf__ T* g, uint32_t rows) {
    using Rows = RegisterRows<T, Step, kAligned>;
    const uint32_t length = static_cast<uint32_t>(t_.reduce);
    const uint16_t count = static_cast<uint16_t>(rows);
    if (rows * length <= kFewElements) {
      Rows::Whole(out, y, g, length, count);
      return;
    }
    Rows::Sum(sums, y, g, length, count);
    PipeBarrier<PIPE_V>();
    Rows::Combine(out, sums, y, g, length, count);
  }

  // Of a tile whose rows are added up and combined one by one, at most.
  static constexpr uint32_t kFewElements = 1024;
  static constexpr bool kFp32 = std::is_same_v<T, float>;

  const RowReduceTilingData& t_;
  const bool flat_;
  TQue<TPosition::VECIN, kQueueDepth> inQueue_;
  TQue<TPosition::VECOUT, kQueueDepth> outQueue_;
  TBuf<TPosition::VECCALC>
      sums_;  // of rows; of flat ones for each element, and for 16 bit f behind them
};

#endif  // OP_KERNEL_REGISTERS

template <typename T, typename Step>
__aicore__ inline void RunRegisters(GM_ADDR y, GM_ADDR g, GM_ADDR out,
                                    const RowReduceTilingData& t) {
#if OP_KERNEL_REGISTERS
  TPipe pipe;
  ReduceRegisters<T, Step> path(&pipe, y, g, out, t);
  path.Process();
#endif
}

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_ROW_REDUCE_REGISTERS_H_
