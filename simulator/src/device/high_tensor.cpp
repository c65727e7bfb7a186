// SPDX-License-Identifier: Apache-2.0
// High-level functions of matrices: Broadcast, reductions, CumSum.
#include <algorithm>
#include <numeric>
#include <vector>

#include "device/high.h"
#include "device/high_sizes.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

[[noreturn]] void ThrowShape(std::string detail, const char* advice) {
  ThrowFault("shape", std::move(detail), advice);
}

}  // namespace

void HighBroadcast(const Ub& dst, const Ub& src, const uint32_t* dstShape, const uint32_t* srcShape,
                   int32_t dims, int32_t axis, const HighWork& work) try {
  Core& core = Core::Current();
  core.instruction = "Broadcast";
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  if (dst.dtype != DType::kFloat && dst.dtype != DType::kHalf && dst.dtype != DType::kInt8 &&
      dst.dtype != DType::kUint8) {
    UnsupportedDType(core, core.instruction, dst.dtype);
  }
  const bool matrix = dims == 2;
  const int64_t rows = matrix ? dstShape[0] : 1;
  const int64_t columns = matrix ? dstShape[1] : dstShape[0];
  const int64_t srcRows = matrix ? srcShape[0] : 1;
  const int64_t srcColumns = matrix ? srcShape[1] : srcShape[0];
  const bool spread =
      (srcRows == rows || srcRows == 1) && (srcColumns == columns || srcColumns == 1);
  if (!spread) {
    ThrowShape(Format("a source of %lld x %lld for a destination of %lld x %lld",
                      static_cast<long long>(srcRows), static_cast<long long>(srcColumns),
                      static_cast<long long>(rows), static_cast<long long>(columns)),
               "Each dimension of the source is the destination's or 1.");
  }
  const int64_t axisSize = matrix && axis == 0 ? srcRows : srcColumns;
  const int64_t axisWanted = matrix && axis == 0 ? rows : columns;
  const bool wholeSame = srcRows == rows && srcColumns == columns;
  if (!wholeSame && srcRows * srcColumns != 1 && axisSize == axisWanted) {
    ThrowShape(Format("axis %d, and the source of %lld x %lld has the full size there",
                      static_cast<int>(axis), static_cast<long long>(srcRows),
                      static_cast<long long>(srcColumns)),
               "The axis is the one in which the source has size 1.");
  }
  if (matrix && axis == 0 && !wholeSame && srcColumns != 1 && srcColumns * width % kBlock != 0) {
    ThrowShape(Format("axis 0 with rows of %lld bytes", static_cast<long long>(srcColumns * width)),
               "Hardware would mix rows: with axis 0 a row fills whole 32-byte blocks.");
  }
  ResetMaskRegister(core);
  const int64_t bytes = rows * columns * width;
  const int64_t srcBytes = srcRows * srcColumns * width;
  if (bytes == 0) {
    return;
  }
  const HighOperand to = {&dst, bytes, "dst"};
  const HighOperand from = {&src, srcBytes, "src"};
  CheckHighOperand(core, to);
  CheckHighOperand(core, from);
  // A first row may be spread from its own place: what is written over it is itself.
  const bool ownRow = dst.addr == src.addr && axis == 0 && srcRows == 1 && srcColumns == columns;
  if (!ownRow) {
    CheckHighOverlap(core, to, from, false);
  }
  CheckHighWork(core, work, BroadcastScratch(width, srcRows * srcColumns, rows, columns, axis),
                {to, from});
  const uint64_t dstAt = core.UbOffset(dst.addr);
  const uint64_t srcAt = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = dst.dtype;
        if (work.given && work.bytes != 0) {
          record.Add(WorkAccess(core, work));
        }
        record.Add(UbAccess(core, Use::kWrite, dst, bytes));
        record.Add(UbAccess(core, Use::kRead, src, srcBytes));
      },
      [=, base = core.ub](uint8_t* ub) {
        for (int64_t r = 0; r < rows; ++r) {
          const int64_t fromRow = srcRows == 1 ? 0 : r;
          uint8_t* row = ub + dstAt + r * columns * width;
          if (srcColumns == columns) {
            std::memmove(row, ub + srcAt + fromRow * columns * width,
                         static_cast<size_t>(columns * width));
            continue;
          }
          for (int64_t c = 0; c < columns; ++c) {
            std::memmove(row + c * width, ub + srcAt + fromRow * width, static_cast<size_t>(width));
          }
        }
        if (ub == base) {
          SpoilHighWork(work);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

namespace {

constexpr const char* kReductionNames[] = {"Sum",        "Mean",      "ReduceSum",
                                           "ReduceMean", "ReduceMax", "ReduceMin",
                                           "ReduceProd", "ReduceAny", "ReduceAll"};
static_assert(std::size(kReductionNames) == static_cast<size_t>(HighReduction::kCount));

bool Has(HighReduction op, DType dtype) {
  switch (op) {
    case HighReduction::kRowSum:
    case HighReduction::kRowMean:
    case HighReduction::kMax:
    case HighReduction::kMin:
      return dtype == DType::kFloat || dtype == DType::kHalf;
    case HighReduction::kAny:
    case HighReduction::kAll:
      return dtype == DType::kFloat || dtype == DType::kUint8;
    default:
      return dtype == DType::kFloat;
  }
}

// Neighbours first, rounding to the type at every step, repeat by repeat, then over their sums: the documented order.
template <typename T, typename Added>
float TreeSum(const uint8_t* row, int64_t n) {
  constexpr int64_t kLanes = kRepeatBytes / sizeof(Added);
  thread_local std::vector<float> values;  // keeps its memory from call to call
  values.resize(static_cast<size_t>(ScratchRoundUp(n, kLanes)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int64_t>(i) < n ? static_cast<float>(Lane<T>::Load(row, i)) : 0.0f;
  }
  while (true) {
    size_t sums = 0;
    for (size_t begin = 0; begin < values.size(); begin += kLanes) {
      float level[kLanes];
      std::copy_n(values.begin() + static_cast<ptrdiff_t>(begin), kLanes, level);
      for (int64_t left = kLanes / 2; left > 0; left /= 2) {
        for (int64_t i = 0; i < left; ++i) {
          level[i] = static_cast<float>(Added(level[2 * i] + level[2 * i + 1]));
        }
      }
      values[sums++] = level[0];
    }
    if (sums == 1) {
      return values[0];
    }
    values.resize(static_cast<size_t>(ScratchRoundUp(static_cast<int64_t>(sums), kLanes)));
    std::fill(values.begin() + static_cast<ptrdiff_t>(sums), values.end(), 0.0f);
  }
}

// A line of `count` elements, `step` elements apart.
template <typename T>
double ReduceLine(HighReduction op, const void* line, size_t count, size_t step) {
  double result = static_cast<double>(Lane<T>::Load(line, 0));
  for (size_t i = 1; i < count; ++i) {
    const auto v = static_cast<double>(Lane<T>::Load(line, i * step));
    switch (op) {
      case HighReduction::kMax:
        result = result != result || v <= result ? result : v;  // NaN wins
        break;
      case HighReduction::kMin:
        result = result != result || v >= result ? result : v;
        break;
      case HighReduction::kProd:
        result *= v;
        break;
      case HighReduction::kAny:
        result = result != 0 || v != 0 ? 1 : 0;
        break;
      case HighReduction::kAll:
        result = result != 0 && v != 0 ? 1 : 0;
        break;
      default:
        result += v;
    }
  }
  return op == HighReduction::kMean ? result / static_cast<double>(count) : result;
}

// ReduceAny and ReduceAll: nothing but 0 and 1.
template <typename T>
void CheckTruths(Core& core, const HighReduceCall& call) {
  for (size_t r = 0; r < call.rows; ++r) {
    for (size_t c = 0; c < call.columns; ++c) {
      const size_t i = r * call.step + c;
      const auto value = static_cast<double>(Lane<T>::Load(call.src.addr, i));
      if (value != 0 && value != 1 && value == value) {
        FindValue(core, value, i, "0 and 1",
                  "Hardware takes the largest or smallest element, or bits of all: not a truth "
                  "value. Compare first, and Select 0 or 1.");
        return;
      }
    }
  }
}

template <typename T>
void RunReduce(HighReduction op, const HighReduceCall& call) {
  std::vector<typename Lane<T>::Value> results;  // stored at the end: dst may be the source
  const uint8_t* const src = call.src.addr;
  const auto store = [&](double value) {
    results.push_back(static_cast<typename Lane<T>::Value>(value));
  };
  if (call.overRows) {
    for (size_t c = 0; c < call.columns; ++c) {
      store(ReduceLine<T>(op, src + c * sizeof(T), call.rows, call.step));
    }
  } else {
    for (size_t r = 0; r < call.rows; ++r) {
      const uint8_t* row = src + r * call.step * sizeof(T);
      if constexpr (!std::is_integral_v<T>) {
        if (op == HighReduction::kRowSum || op == HighReduction::kRowMean) {
          const float sum =
              call.wide ? TreeSum<T, float>(row, call.columns) : TreeSum<T, T>(row, call.columns);
          store(op == HighReduction::kRowSum ? sum : double{sum} / call.columns);
          continue;
        }
      }
      store(ReduceLine<T>(op, row, call.columns, 1));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Lane<T>::Store(call.dst.addr, i, results[i]);
  }
}

}  // namespace

void HighReduce(HighReduction op, const HighReduceCall& call) try {
  Core& core = Core::Current();
  core.instruction = kReductionNames[static_cast<size_t>(op)];
  if (!Has(op, call.src.dtype)) {
    UnsupportedDType(core, core.instruction, call.src.dtype);
  }
  const auto width = static_cast<int64_t>(WidthOf(call.src.dtype));
  const int64_t rows = call.rows;
  const int64_t columns = call.columns;
  const int64_t rowBytes = int64_t{call.step} * width;
  // On 3510 the flag says nothing, as documented: the shape does.
  const bool padded = call.padded || core.soc.npuArch == 3510;
  if (!padded || rowBytes % kBlock != 0 || columns > call.step || columns == 0) {
    ThrowShape(Format("%lld of %u elements of %s per row%s", static_cast<long long>(columns),
                      call.step, NameOf(call.src.dtype), padded ? "" : ", srcInnerPad is false"),
               "Hardware would mix rows. Rows fill whole 32-byte blocks (srcInnerPad is true), and "
               "at least one and at most all of their elements take part.");
  }
  ResetMaskRegister(core);
  if (rows == 0) {
    return;
  }
  const int64_t results = (call.overRows ? columns : rows) * width;
  const int64_t srcBytes = (rows - 1) * rowBytes + columns * width;
  const HighOperand dst = {&call.dst, results, "dst"};
  const HighOperand src = {&call.src, srcBytes, "src"};
  CheckHighOperand(core, dst);
  CheckHighOperand(core, src);
  CheckHighOverlap(core, dst, src, false);
  CheckHighWork(
      core, call.work,
      ReduceScratch(op, width, call.rows, call.columns, call.overRows, call.wide, call.reuseSource),
      {dst, src});
  const Access read = call.overRows
                          ? HighColumns(core, Use::kRead, call.src, rows, columns, rowBytes)
                          : HighRows(core, Use::kRead, call.src, rows, columns * width, rowBytes);
  const Access written =
      HighRows(core, Use::kWrite, call.dst, call.overRows ? columns : rows, width, width);
  IssueHighLevel(
      core, Flow::kRepeats, call.src.dtype, {WorkAccess(core, call.work), written, read},
      [=, &core] {
        if ((op == HighReduction::kAny || op == HighReduction::kAll) && core.Observed()) {
          call.src.dtype == DType::kFloat ? CheckTruths<float>(core, call)
                                          : CheckTruths<uint8_t>(core, call);
        }
        switch (call.src.dtype) {
          case DType::kFloat:
            RunReduce<float>(op, call);
            break;
          case DType::kHalf:
            RunReduce<half>(op, call);
            break;
          default:
            RunReduce<uint8_t>(op, call);
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

void HighCumSum(const HighCumSumCall& call) try {
  Core& core = Core::Current();
  core.instruction = "CumSum";
  const DType dtype = call.src.dtype;
  RequireFloat(core, dtype);
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t rows = call.rows;
  const int64_t columns = call.columns;
  const int64_t rowBytes = columns * width;
  if (rows == 0 || columns == 0 || rowBytes % kBlock != 0) {
    ThrowShape(Format("outter %lld, inner %lld of %s", static_cast<long long>(rows),
                      static_cast<long long>(columns), NameOf(dtype)),
               "Hardware would mix rows: neither is 0, and inner fills whole 32-byte blocks.");
  }
  ResetMaskRegister(core);
  const int64_t bytes = rows * rowBytes;
  const HighOperand dst = {&call.dst, bytes, "dst"};
  const HighOperand src = {&call.src, bytes, "src"};
  CheckHighOperand(core, dst);
  CheckHighOperand(core, src);
  CheckHighOverlap(core, dst, src, true);
  if (call.keepLastRow) {
    CheckHighOperand(core, {&call.lastRow, rowBytes, "lastRowTensor"});
  }
  CheckHighWork(core, call.work, CumSumScratch(width, rows, columns, call.alongRow), {dst, src});
  const auto lines = [&](Use use, const Ub& operand) {
    return call.alongRow ? HighRows(core, use, operand, rows, rowBytes, rowBytes)
                         : HighColumns(core, use, operand, rows, columns, rowBytes);
  };
  IssueHighLevel(
      core, Flow::kRepeats, dtype,
      {WorkAccess(core, call.work), lines(Use::kWrite, call.dst), lines(Use::kRead, call.src)},
      [=] {
        const auto run = [&](auto element) {
          using T = decltype(element);
          const int64_t count = call.alongRow ? rows : columns;
          const int64_t length = call.alongRow ? columns : rows;
          const int64_t start = call.alongRow ? columns : 1;
          const int64_t step = call.alongRow ? 1 : columns;
          for (int64_t line = 0; line < count; ++line) {
            float sum = 0;
            for (int64_t i = 0; i < length; ++i) {
              const auto at = static_cast<size_t>(line * start + i * step);
              const auto value = static_cast<float>(Lane<T>::Load(call.src.addr, at));
              sum = i == 0 ? value : sum + value;
              Lane<T>::Store(call.dst.addr, at, sum);
            }
          }
        };
        dtype == DType::kFloat ? run(float()) : run(half());
        SpoilHighWork(call.work);
      });
  if (!call.keepLastRow) {
    return;
  }
  core.scheduler->Barrier(
      core.MakeSync(SyncEvent::Kind::kBarrier, Pipe::kVector, Pipe::kVector, 0));
  const uint64_t to = core.UbOffset(call.lastRow.addr);
  const uint64_t from = core.UbOffset(call.dst.addr) + static_cast<uint64_t>((rows - 1) * rowBytes);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        Ub row = call.dst;
        row.addr += (rows - 1) * rowBytes;
        record.dtype = dtype;
        record.Add(UbAccess(core, Use::kWrite, call.lastRow, rowBytes));
        record.Add(UbAccess(core, Use::kRead, row, rowBytes));
      },
      [=](uint8_t* ub) { std::memmove(ub + to, ub + from, static_cast<size_t>(rowBytes)); });
}
ACLSIM_SKIPS_FAULTS()

void HighTopK(const HighTopKCall& call) try {
  Core& core = Core::Current();
  core.instruction = "TopK";
  const DType dtype = call.src.dtype;
  RequireFloat(core, dtype);
  constexpr int64_t kUnit = 32;
  constexpr int64_t kLongest = 4096;
  constexpr int64_t kIndex = sizeof(int32_t);
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t rows = call.rows;
  const int64_t columns = call.columns;
  const int64_t k = call.k;
  if (columns % kUnit != 0 || columns > kLongest || (call.small && columns != kUnit) ||
      call.counted > columns || k > call.counted || k == 0) {
    ThrowShape(
        Format("the first %u of %u elements, rows of %u", call.k, call.counted, call.columns),
        "inner is a multiple of 32 and at most 4096, 32 with TOPK_NSMALL, and "
        "1 <= k <= n <= inner.");
  }
  ResetMaskRegister(core);
  if (rows == 0) {
    return;
  }
  const auto rowOf = [&](int64_t bytes) {
    return call.small ? bytes : ScratchRoundUp(bytes, kBlock);
  };
  const int64_t valueRow = rowOf(k * width);
  const int64_t indexRow = rowOf(k * kIndex);
  const int64_t srcRow = columns * width;
  const int64_t srcIndexRow = call.small ? columns * kIndex : 0;
  const HighOperand values = {&call.values, (rows - 1) * valueRow + k * width, "dstValueLocal"};
  const HighOperand indices = {&call.indices, (rows - 1) * indexRow + k * kIndex, "dstIndexLocal"};
  const HighOperand src = {&call.src, rows * srcRow, "srcLocal"};
  const HighOperand srcIndex = {&call.srcIndex,
                                call.hasIndex ? (rows - 1) * srcIndexRow + columns * kIndex : 0,
                                "srcIndexLocal"};
  const HighOperand finished = {&call.finished, call.hasFinished ? rows : 0, "finishLocal"};
  for (const HighOperand& operand : {values, indices, src, srcIndex, finished}) {
    if (operand.bytes != 0) {
      CheckHighOperand(core, operand);
    }
  }
  for (const HighOperand& result : {values, indices}) {
    for (const HighOperand& operand : {src, srcIndex, finished}) {
      if (operand.bytes != 0) {
        CheckHighOverlap(core, result, operand, false);
      }
    }
  }
  CheckHighWork(core, call.work,
                TopKScratch(rows, columns, call.small, call.hasIndex, call.largest),
                {values, indices, src, srcIndex, finished});
  IssueHighLevel(
      core, Flow::kRepeats, dtype,
      {WorkAccess(core, call.work),
       HighRows(core, Use::kWrite, call.values, rows, k * width, valueRow),
       HighRows(core, Use::kWrite, call.indices, rows, k * kIndex, indexRow),
       HighRows(core, Use::kRead, call.src, rows, srcRow, srcRow),
       call.hasIndex
           ? HighRows(core, Use::kRead, call.srcIndex, rows, columns * kIndex, srcIndexRow)
           : Access{},
       call.hasFinished ? HighRows(core, Use::kRead, call.finished, rows, 1, 1) : Access{}},
      [=] {
        std::vector<int32_t> order(static_cast<size_t>(columns));
        for (int64_t r = 0; r < rows; ++r) {
          const uint8_t* row = call.src.addr + r * srcRow;
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            const double x = LoadFloat(dtype, row, a);
            const double y = LoadFloat(dtype, row, b);
            if (x != x || y != y) {
              return x != x && y == y;  // NaN comes first either way
            }
            return call.largest ? x > y : x < y;
          });
          const bool invalid = call.hasFinished && call.finished.addr[r] != 0;
          for (int64_t i = 0; i < k; ++i) {
            int32_t index = order[static_cast<size_t>(i)];
            StoreFloat(dtype, call.values.addr + r * valueRow, i, LoadFloat(dtype, row, index));
            if (invalid) {
              index = static_cast<int32_t>(call.counted);
            } else if (call.hasIndex) {
              std::memcpy(&index, call.srcIndex.addr + r * srcIndexRow + index * kIndex,
                          sizeof(index));
            }
            std::memcpy(call.indices.addr + r * indexRow + i * kIndex, &index, sizeof(index));
          }
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
