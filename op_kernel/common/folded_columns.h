// SPDX-License-Identifier: Apache-2.0
// Columns that are no whole blocks of 32 bytes. Copied row by row, a slab [R, B] of them would cost GM a
// request and UB a block for a few bytes, so a slab is one piece of GM, seen as rows of `width` lanes:
// a multiple of B and of a block. Column b of the slab are the lanes b, B + b, 2 B + b ... of such a row.
//
// A slab is added up to one `period`, the fewest lanes that B and a block of fp32 divide. Its turns by
// half of it, a quarter and so on, down to B lanes, are added to it: every lane then has the sum of its
// column, in one order of additions, since the two halves of a turn add up the same pairs.
#ifndef OP_KERNEL_COMMON_FOLDED_COLUMNS_H_
#define OP_KERNEL_COMMON_FOLDED_COLUMNS_H_

#include "common/lanes.h"
#include "common/row_reduce_data.h"
#include "kernel_operator.h"

namespace rowreduce {

// Lane: float. A template, so that SoCs without Gather never meet it.
template <typename Lane>
class FoldedColumns {
 public:
  // units: the most slabs of a tile.
  __aicore__ inline void Init(AscendC::TPipe* pipe, uint32_t columns, uint32_t width,
                              uint32_t units) {
    columns_ = columns;
    period_ = PeriodOf(columns);
    width_ = width;
    group_ = Max(1, Min(units, kRowReduceFoldedLanes / period_));
    pipe->InitBuffer(spread_, units * width * static_cast<uint32_t>(sizeof(Lane)));
    const uint32_t lanes = group_ * period_;
    pipe->InitBuffer(twice_, 2 * lanes * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(turned_, lanes * static_cast<uint32_t>(sizeof(Lane)));
    pipe->InitBuffer(offsets_, lanes * static_cast<uint32_t>(sizeof(uint32_t)));
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

  // The sums of columns over rows of `width` lanes, from those over periods.
  __aicore__ inline Folded Spread(const Folded& sums, uint32_t units) {
    const LocalTensor<Lane> spread = spread_.template Get<Lane>();
    for (uint32_t u = 0; u < units; u += group_) {
      const uint32_t count = Min(group_, units - u);
      const Folded turned = Turn({sums.lanes[u * sums.pitch], sums.pitch, period_}, count);
      const LocalTensor<Lane> rows = spread[u * width_];
      CopyRows(rows, width_, turned.lanes, turned.pitch, period_, count);
      for (uint32_t done = period_; done < width_; done *= 2) {
        PipeBarrier<PIPE_V>();
        CopyRows(rows[done], width_, rows, width_, Min(done, width_ - done), count);
      }
      PipeBarrier<PIPE_V>();
    }
    return Folded{spread, width_, width_};
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

  // A period that lies twice behind itself is turned by reading it from a later lane on.
  __aicore__ inline Folded Turn(Folded sums, uint32_t units) {
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
      sums = Folded{turned, period_, period_};
    }
    return sums;
  }

  uint32_t columns_;
  uint32_t period_;
  uint32_t width_;
  uint32_t group_;  // slabs that are turned at once
  AscendC::TBuf<AscendC::TPosition::VECCALC> spread_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> twice_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> turned_;
  AscendC::TBuf<AscendC::TPosition::VECCALC> offsets_;  // of the lanes of a Gather, in bytes
};

}  // namespace rowreduce

#endif  // OP_KERNEL_COMMON_FOLDED_COLUMNS_H_
