// SPDX-License-Identifier: Apache-2.0
// Columns that are no whole blocks lie side by side in UB as they do in GM. Copied row by row, a slab [R, B] of them would
// cost GM a request and UB a block for a few bytes, so a slab is one piece of GM, seen as rows of `width` lanes: a multiple
// of B and of a block. Lanes b, B + b, 2 B + b ... of such a row are column b.
//
//   GM      | B columns | B columns | ..                      R times
//   UB      | B | B | B | .. | B |                            a row of `width` lanes
//           | B | B | B | .. | B |
//   period  the fewest lanes that B and a block of fp32 divide: rows are added up to one period
//   turned  the period from its middle on is added to it, from a quarter of it on, and so on down to B lanes
//
// Every lane then has the sum of its column, in one order of additions: both halves of a turn add the same pairs.
#ifndef OP_KERNEL_COMMON_SIDE_BY_SIDE_H_
#define OP_KERNEL_COMMON_SIDE_BY_SIDE_H_

#include "common/row_reduce_ub.h"
#include "common/vector_ops.h"

namespace rowreduce {

// Lane is float. It is a parameter so that SoCs without Gather never compile this.
template <typename Lane>
class SideBySide {
 public:
  // `width` is the number of lanes of a row, `slabs` the most slabs of a tile.
  __aicore__ inline void Init(TPipe* pipe, uint32_t columns, uint32_t width, uint32_t slabs) {
    const SideBySideUb ub = SideBySideUbOf(columns, width, slabs);
    columns_ = columns;
    period_ = static_cast<uint32_t>(PeriodOf(columns));
    width_ = width;
    group_ = static_cast<uint32_t>(SlabsTurned(columns, slabs));
    pipe->InitBuffer(sums_, ub.sums.bytes);
    pipe->InitBuffer(twice_, ub.twice.bytes);
    pipe->InitBuffer(turned_, ub.turned.bytes);
    pipe->InitBuffer(offsets_, ub.offsets.bytes);
    const uint32_t lanes = group_ * period_;
    const LocalTensor<int32_t> offsets = offsets_.Get<int32_t>();
    for (uint32_t u = 0; u < group_; ++u) {
      AscendC::CreateVecIndex(offsets[u * period_], static_cast<int32_t>(2 * u * period_), period_);
    }
    PipeBarrier<PIPE_V>();
    AscendC::Muls(offsets, offsets, static_cast<int32_t>(sizeof(Lane)),
                  static_cast<int32_t>(lanes));
    PipeBarrier<PIPE_V>();
  }

  __aicore__ inline uint32_t Period() const { return period_; }

  // Returns rows of `width` lanes in which each lane has the sum of its column, from the sums over
  // a period.
  __aicore__ inline Matrix ForRow(const Matrix& sums, uint32_t units) {
    const LocalTensor<Lane> all = sums_.template Get<Lane>();
    for (uint32_t u = 0; u < units; u += group_) {
      const uint32_t count = Min(group_, units - u);
      const Matrix turned = Turn({sums.lanes[u * sums.pitch], sums.pitch, period_}, count);
      const LocalTensor<Lane> rows = all[u * width_];
      CopyRows(rows, width_, turned.lanes, turned.pitch, period_, count);
      for (uint32_t done = period_; done < width_; done *= 2) {
        PipeBarrier<PIPE_V>();
        CopyRows(rows[done], width_, rows, width_, Min(done, width_ - done), count);
      }
      PipeBarrier<PIPE_V>();
    }
    return Matrix{all, width_, width_};
  }

 private:
  __aicore__ inline static void CopyRows(const LocalTensor<Lane>& dst, uint32_t dstPitch,
                                         const LocalTensor<Lane>& src, uint32_t srcPitch,
                                         uint32_t lanes, uint32_t rows) {
    AscendC::DataCopy(dst, src,
                      AscendC::DataCopyParams(
                          static_cast<uint16_t>(rows), static_cast<uint16_t>(lanes / kBlockLanes),
                          static_cast<uint16_t>((srcPitch - lanes) / kBlockLanes),
                          static_cast<uint16_t>((dstPitch - lanes) / kBlockLanes)));
  }

  // A period is turned by reading it from a later lane on, where it lies twice.
  __aicore__ inline Matrix Turn(Matrix sums, uint32_t units) {
    const LocalTensor<Lane> twice = twice_.template Get<Lane>();
    const LocalTensor<Lane> turned = turned_.template Get<Lane>();
    for (uint32_t by = period_ / 2; by >= columns_; by /= 2) {
      CopyRows(twice, 2 * period_, sums.lanes, sums.pitch, period_, units);
      CopyRows(twice[period_], 2 * period_, sums.lanes, sums.pitch, period_, units);
      PipeBarrier<PIPE_V>();
      AscendC::Gather(turned, twice, offsets_.Get<uint32_t>(),
                      by * static_cast<uint32_t>(sizeof(Lane)), units * period_);
      PipeBarrier<PIPE_V>();
      ForRows<Op::kAdd>(turned, period_, turned, period_, twice, 2 * period_, units, period_);
      PipeBarrier<PIPE_V>();
      sums = Matrix{turned, period_, period_};
    }
    return sums;
  }

  uint32_t columns_;
  uint32_t period_;
  uint32_t width_;
  uint32_t group_;  // slabs that are turned at once
  TBuf<TPosition::VECCALC> sums_;
  TBuf<TPosition::VECCALC> twice_;
  TBuf<TPosition::VECCALC> turned_;
  TBuf<TPosition::VECCALC> offsets_;  // byte offsets of the lanes of a Gather
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_SIDE_BY_SIDE_H_
