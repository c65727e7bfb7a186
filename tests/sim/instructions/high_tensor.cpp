// SPDX-License-Identifier: Apache-2.0
// High-level functions of matrices: Broadcast, reductions, CumSum, the softmax family.
#include "bench.h"

using namespace AscendC;

namespace {

// extra: with scratch or without, bytes of it (0: all), rows, columns, elements per row or of the source.
struct Rows {
  explicit Rows(const Call& call)
      : worked(call.extra[0] != 0),
        rows(static_cast<uint32_t>(call.extra[2])),
        columns(static_cast<uint32_t>(call.extra[3])),
        step(static_cast<uint32_t>(call.extra[4])) {}
  bool worked;
  uint32_t rows;
  uint32_t columns;
  uint32_t step;
};

LocalTensor<uint8_t> Scratch(TPipe& pipe, TBuf<>& buffer, const Call& call) {
  pipe.InitBuffer(buffer, 65536);
  LocalTensor<uint8_t> work = buffer.Get<uint8_t>();
  if (call.extra[1] != 0) {
    work.SetSize(static_cast<uint32_t>(call.extra[1]));
  }
  return work;
}

constexpr CumSumConfig kRows = {true, false, true};
constexpr CumSumConfig kColumns = {false, false, true};
constexpr CumSumConfig kNoLastRow = {false, false, false};

}  // namespace

// op: 0 one dimension, 1 axis 0, 2 axis 1, 3 the older name; step is the source's size in the other dimension.
CALL_KERNEL(broadcast) {
  TBuf<> buffer;
  const Rows s(c);
  const auto run = [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    const uint32_t to[2] = {s.rows, s.columns};
    const uint32_t row[2] = {1, s.columns};
    const uint32_t column[2] = {s.step, 1};
    const uint32_t line[1] = {s.columns};
    const uint32_t one[1] = {1};
    LocalTensor<uint8_t> work;
    if (s.worked) {
      work = Scratch(areas.pipe, buffer, c);
    }
    switch (c.op) {
      case 0:
        s.worked ? Broadcast<T, 1, 0>(dst, a, line, one, work)
                 : Broadcast<T, 1, 0>(dst, a, line, one);
        break;
      case 1:
        s.worked ? Broadcast<T, 2, 0>(dst, a, to, row, work) : Broadcast<T, 2, 0>(dst, a, to, row);
        break;
      case 2:
        s.worked ? Broadcast<T, 2, 1>(dst, a, to, column, work)
                 : Broadcast<T, 2, 1>(dst, a, to, column);
        break;
      case 4:  // from its own place
        s.worked ? Broadcast<T, 2, 0>(dst, dst, to, row, work)
                 : Broadcast<T, 2, 0>(dst, dst, to, row);
        break;
      default:
        s.worked ? BroadCast<T, 2, 1>(dst, a, to, column, work)
                 : BroadCast<T, 2, 1>(dst, a, to, column);
    }
  };
  ForType(c.dtype, run);
}

#define PATTERN(number, Name, Which)                                              \
  case number:                                                                    \
    s.worked ? Name<T, Pattern::Reduce::Which>(dst, a, work, shape, c.mode == 0)  \
             : Name<T, Pattern::Reduce::Which, true>(dst, a, shape, c.mode == 0); \
    break;

CALL_KERNEL(high_reduce) {
  TBuf<> buffer;
  const Rows s(c);
  const auto run = [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    const uint32_t shape[2] = {s.rows, s.columns};
    LocalTensor<uint8_t> work;
    if (s.worked) {
      work = Scratch(areas.pipe, buffer, c);
    }
    const SumParams sum = {s.rows, s.step, s.columns};
    const MeanParams mean = {s.rows, s.step, s.columns};
    switch (c.op) {
      case 0:
        s.worked ? Sum(dst, a, work, sum) : Sum(dst, a, sum);
        break;
      case 1:
        s.worked ? Mean(dst, a, work, mean) : Mean(dst, a, mean);
        break;
      case 2:
        s.worked ? Mean<T, float>(dst, a, work, mean) : Mean<T, float>(dst, a, mean);
        break;
        PATTERN(3, ReduceSum, AR)
        PATTERN(4, ReduceSum, RA)
        PATTERN(5, ReduceMean, AR)
        PATTERN(6, ReduceMean, RA)
        PATTERN(7, ReduceMax, AR)
        PATTERN(8, ReduceMax, RA)
        PATTERN(9, ReduceMin, AR)
        PATTERN(10, ReduceMin, RA)
        PATTERN(11, ReduceProd, AR)
        PATTERN(12, ReduceProd, RA)
        PATTERN(13, ReduceAny, AR)
        PATTERN(14, ReduceAny, RA)
        PATTERN(15, ReduceAll, AR)
        PATTERN(16, ReduceAll, RA)
      default:
        Trap();
    }
  };
  if (c.dtype == 0) {
    run(float());
  } else if (c.dtype == 1) {
    run(half());
  } else {
    run(uint8_t());
  }
}

// op: along rows, down columns, without the last row. The last row goes to the third area, then behind the result.
CALL_KERNEL(cumsum) {
  TBuf<> buffer;
  const Rows s(c);
  const CumSumInfo info = {s.rows, s.columns};
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    LocalTensor<T> dst = areas.Area<T>(0);
    const LocalTensor<T> a = areas.Area<T>(1);
    LocalTensor<T> last = areas.Area<T>(2);
    LocalTensor<uint8_t> work = Scratch(areas.pipe, buffer, c);
    if (c.op == 0) {
      s.worked ? CumSum<T, kRows>(dst, last, a, work, info) : CumSum<T, kRows>(dst, last, a, info);
    } else if (c.op == 1) {
      CumSum<T, kColumns>(dst, last, a, work, info);
    } else {
      CumSum<T, kNoLastRow>(dst, last, a, work, info);
    }
    PipeBarrier<PIPE_ALL>();
    DataCopy(dst[s.rows * s.columns], last, s.columns);
  });
}

// op: 0 SoftMax alone, 1 with statistics, 2 with statistics in float, 3 SimpleSoftMax, 4 LogSoftMax, 5 SoftMax in place,
// 6 AdjustSoftMaxRes, 7 with maxima one behind the other. The result lies at 0, maxima at 16384, sums at 24576 of the first area; statistics are read there too.
CALL_KERNEL(softmax) {
  TBuf<> buffer;
  const Rows s(c);
  LocalTensor<uint8_t> work = Scratch(areas.pipe, buffer, c);
  SoftMaxTiling tiling;
  LogSoftMaxTiling logTiling;
  const SoftMaxShapeInfo shape = {s.rows, s.step, s.rows, s.columns};
  ForFloat(c.dtype, [&](auto element) {
    using T = decltype(element);
    const LocalTensor<T> dst = areas.Area<T>(0);
    LocalTensor<T> a = areas.Area<T>(1);
    const LocalTensor<T> max = areas.Area<uint8_t>(0)[16384].template ReinterpretCast<T>();
    const LocalTensor<T> sum = areas.Area<uint8_t>(0)[24576].template ReinterpretCast<T>();
    const LocalTensor<float> wideMax = max.template ReinterpretCast<float>();
    const LocalTensor<float> wideSum = sum.template ReinterpretCast<float>();
    switch (c.op) {
      case 0: {
        // The shape from the tensor, or from the tiling.
        const uint32_t sizes[2] = {s.rows, s.step};
        if (s.worked) {
          a.SetShapeInfo(ShapeInfo(2, sizes));
          SoftMax(dst, a, work, tiling);
        } else {
          tiling.srcM = s.rows;
          tiling.srcK = s.step;
          SoftMax(dst, a, tiling);
        }
        break;
      }
      case 1:
        s.worked ? SoftMax(dst, sum, max, a, work, tiling, shape)
                 : SoftMax(dst, sum, max, a, tiling, shape);
        break;
      case 2:
        if constexpr (std::is_same_v<T, half>) {
          s.worked ? SoftMax<half>(dst, wideSum, wideMax, a, work, tiling, shape)
                   : SoftMax<half>(dst, wideSum, wideMax, a, tiling, shape);
        }
        break;
      case 3:
        s.worked ? SimpleSoftMax(dst, sum, max, a, work, tiling, shape)
                 : SimpleSoftMax(dst, sum, max, a, tiling, shape);
        break;
      case 4:
        LogSoftMax(dst, sum, max, a, work, logTiling, shape);
        break;
      case 5:
        SoftMax<T, false, false>(dst, dst, work, tiling, shape);
        break;
      default: {
        const bool found = c.op == 7
                               ? AdjustSoftMaxRes<T, T, false, 1>(dst, max, 0xff7fffff, T(2), shape)
                               : AdjustSoftMaxRes(dst, max, 0xff7fffff, T(2), shape);
        areas.Area<int32_t>(0).SetValue(28672 / 4, found ? 1 : 0);
      }
    }
  });
}

// Of a row with `columns` defined elements: the sum of `step` of them. mode: rows go.
extern "C" __global__ __aicore__ void reduce_flow(GM_ADDR dstGm, GM_ADDR aGm, GM_ADDR callGm) {
  const Call c = ReadCall(callGm);
  const Rows s(c);
  TPipe pipe;
  TBuf<> buffers[3];
  for (TBuf<>& buffer : buffers) {
    pipe.InitBuffer(buffer, 4096);
  }
  const GlobalTensor<float> from = Global<float>(aGm);
  const GlobalTensor<float> to = Global<float>(dstGm);
  const LocalTensor<float> src = buffers[0].Get<float>();
  const LocalTensor<float> dst = buffers[1].Get<float>();
  const LocalTensor<uint8_t> work = buffers[2].Get<uint8_t>();
  Duplicate(dst, 0.0f, 64);
  PipeBarrier<PIPE_V>();
  for (uint32_t r = 0; r < 8; ++r) {
    DataCopy(src[r * 64], from, s.columns);
  }
  PipeBarrier<PIPE_ALL>();
  const uint32_t shape[2] = {8, s.step};
  if (c.mode == 0) {
    Sum(dst, src, work, SumParams{8, 64, s.step});
  } else {
    ReduceMax<float, Pattern::Reduce::RA>(dst, src, work, shape, true);
  }
  PipeBarrier<PIPE_ALL>();
  DataCopy(to, dst, c.mode == 0 ? 8 : static_cast<uint32_t>(c.count));
}
