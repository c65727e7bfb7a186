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

// One call of Broadcast; vectors are matrices of one row.
struct BroadcastCall {
  int64_t width = 0;  // bytes of an element
  int64_t rows = 1, columns = 0;
  int64_t srcRows = 1, srcColumns = 0;
  bool alongRows = false;  // axis 0 of a matrix

  // dst and src in UB, or in an image of it.
  void Spread(uint8_t* dst, const uint8_t* src) const {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t fromRow = srcRows == 1 ? 0 : r;
      uint8_t* row = dst + r * columns * width;
      if (srcColumns == columns) {
        std::memmove(row, src + fromRow * columns * width, static_cast<size_t>(columns * width));
        continue;
      }
      for (int64_t c = 0; c < columns; ++c) {
        std::memmove(row + c * width, src + fromRow * width, static_cast<size_t>(width));
      }
    }
  }
};

void CheckShapes(const BroadcastCall& call, int32_t axis) {
  const int64_t srcRows = call.srcRows;
  const int64_t srcColumns = call.srcColumns;
  const bool spread =
      (srcRows == call.rows || srcRows == 1) && (srcColumns == call.columns || srcColumns == 1);
  if (!spread) {
    ThrowShape(Format("a source of %lld x %lld for a destination of %lld x %lld",
                      static_cast<long long>(srcRows), static_cast<long long>(srcColumns),
                      static_cast<long long>(call.rows), static_cast<long long>(call.columns)),
               "Each dimension of the source is the destination's or 1.");
  }
  const int64_t axisSize = call.alongRows ? srcRows : srcColumns;
  const int64_t axisWanted = call.alongRows ? call.rows : call.columns;
  const bool wholeSame = srcRows == call.rows && srcColumns == call.columns;
  if (!wholeSame && srcRows * srcColumns != 1 && axisSize == axisWanted) {
    ThrowShape(Format("axis %d, and the source of %lld x %lld has the full size there",
                      static_cast<int>(axis), static_cast<long long>(srcRows),
                      static_cast<long long>(srcColumns)),
               "The axis is the one in which the source has size 1.");
  }
  const int64_t rowBytes = srcColumns * call.width;
  if (call.alongRows && !wholeSame && srcColumns != 1 && rowBytes % kBlock != 0) {
    ThrowShape(Format("axis 0 with rows of %lld bytes", static_cast<long long>(rowBytes)),
               "Hardware would mix rows: with axis 0 a row fills whole 32-byte blocks.");
  }
}

}  // namespace

void HighBroadcast(const Ub& dst, const Ub& src, const uint32_t* dstShape, const uint32_t* srcShape,
                   int32_t dims, int32_t axis, const HighWork& work) try {
  Core& core = Core::Current();
  core.instruction = "Broadcast";
  if (dst.dtype != DType::kFloat && dst.dtype != DType::kHalf && dst.dtype != DType::kInt8 &&
      dst.dtype != DType::kUint8) {
    UnsupportedDType(core, core.instruction, dst.dtype);
  }
  const bool matrix = dims == 2;
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const BroadcastCall call =
      matrix ? BroadcastCall{width, dstShape[0], dstShape[1], srcShape[0], srcShape[1], axis == 0}
             : BroadcastCall{width, 1, dstShape[0], 1, srcShape[0], false};
  CheckShapes(call, axis);
  ResetMaskRegister(core);
  const int64_t bytes = call.rows * call.columns * width;
  const int64_t srcBytes = call.srcRows * call.srcColumns * width;
  if (bytes == 0) {
    return;
  }
  const HighOperand to = {&dst, bytes, "dst"};
  const HighOperand from = {&src, srcBytes, "src"};
  CheckHighOperand(core, to);
  CheckHighOperand(core, from);
  // A first row may be spread from its own place: what is written over it is itself.
  const bool ownRow =
      dst.addr == src.addr && axis == 0 && call.srcRows == 1 && call.srcColumns == call.columns;
  if (!ownRow) {
    CheckHighOverlap(core, to, from, false);
  }
  CheckHighWork(
      core, work,
      BroadcastScratch(width, call.srcRows * call.srcColumns, call.rows, call.columns, axis),
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
        call.Spread(ub + dstAt, ub + srcAt);
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

namespace {

// One call of TopK; distances of rows in bytes.
struct TopKCall : HighTopKCall {
  static constexpr int64_t kIndex = sizeof(int32_t);

  explicit TopKCall(const HighTopKCall& call)
      : HighTopKCall(call),
        width(static_cast<int64_t>(WidthOf(src.dtype))),
        valueRow(ResultRow(k * width)),
        indexRow(ResultRow(k * kIndex)),
        srcRow(columns * width),
        srcIndexRow(small ? columns * kIndex : 0) {}

  int64_t ResultRow(int64_t bytes) const { return small ? bytes : ScratchRoundUp(bytes, kBlock); }
  // The elements of a row from the first that is wanted on.
  void Order(const uint8_t* row, std::vector<int32_t>* order) const {
    std::iota(order->begin(), order->end(), 0);
    std::stable_sort(order->begin(), order->end(), [&](int32_t a, int32_t b) {
      const double x = LoadFloat(src.dtype, row, a);
      const double y = LoadFloat(src.dtype, row, b);
      if (x != x || y != y) {
        return x != x && y == y;  // NaN comes first either way
      }
      return largest ? x > y : x < y;
    });
  }
  void Run() const {
    std::vector<int32_t> order(columns);
    for (int64_t r = 0; r < rows; ++r) {
      const uint8_t* row = src.addr + r * srcRow;
      Order(row, &order);
      const bool invalid = hasFinished && finished.addr[r] != 0;
      for (int64_t i = 0; i < k; ++i) {
        int32_t index = order[static_cast<size_t>(i)];
        StoreFloat(src.dtype, values.addr + r * valueRow, i, LoadFloat(src.dtype, row, index));
        if (invalid) {
          index = static_cast<int32_t>(counted);
        } else if (hasIndex) {
          std::memcpy(&index, srcIndex.addr + r * srcIndexRow + index * kIndex, sizeof(index));
        }
        std::memcpy(indices.addr + r * indexRow + i * kIndex, &index, sizeof(index));
      }
    }
    SpoilHighWork(work);
  }

  int64_t width, valueRow, indexRow, srcRow, srcIndexRow;
};

void CheckShape(const TopKCall& call) {
  constexpr uint32_t kUnit = 32;
  constexpr uint32_t kLongest = 4096;
  if (call.columns % kUnit != 0 || call.columns > kLongest ||
      (call.small && call.columns != kUnit) || call.counted > call.columns ||
      call.k > call.counted || call.k == 0) {
    ThrowShape(
        Format("the first %u of %u elements, rows of %u", call.k, call.counted, call.columns),
        "inner is a multiple of 32 and at most 4096, 32 with TOPK_NSMALL, and "
        "1 <= k <= n <= inner.");
  }
}

void CheckOperands(Core& core, const TopKCall& call) {
  constexpr int64_t kIndex = TopKCall::kIndex;
  const int64_t rows = call.rows;
  const HighOperand values = {&call.values, (rows - 1) * call.valueRow + call.k * call.width,
                              "dstValueLocal"};
  const HighOperand indices = {&call.indices, (rows - 1) * call.indexRow + call.k * kIndex,
                               "dstIndexLocal"};
  const HighOperand src = {&call.src, rows * call.srcRow, "srcLocal"};
  const HighOperand srcIndex = {
      &call.srcIndex, call.hasIndex ? (rows - 1) * call.srcIndexRow + call.columns * kIndex : 0,
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
                TopKScratch(rows, call.columns, call.small, call.hasIndex, call.largest),
                {values, indices, src, srcIndex, finished});
}

}  // namespace

void HighTopK(const HighTopKCall& given) try {
  Core& core = Core::Current();
  core.instruction = "TopK";
  RequireFloat(core, given.src.dtype);
  const TopKCall call(given);
  CheckShape(call);
  ResetMaskRegister(core);
  if (call.rows == 0) {
    return;
  }
  CheckOperands(core, call);
  constexpr int64_t kIndex = TopKCall::kIndex;
  const int64_t rows = call.rows;
  IssueHighLevel(
      core, Flow::kRepeats, call.src.dtype,
      {WorkAccess(core, call.work),
       HighRows(core, Use::kWrite, call.values, rows, call.k * call.width, call.valueRow),
       HighRows(core, Use::kWrite, call.indices, rows, call.k * kIndex, call.indexRow),
       HighRows(core, Use::kRead, call.src, rows, call.srcRow, call.srcRow),
       call.hasIndex ? HighRows(core, Use::kRead, call.srcIndex, rows, call.columns * kIndex,
                                call.srcIndexRow)
                     : Access{},
       call.hasFinished ? HighRows(core, Use::kRead, call.finished, rows, 1, 1) : Access{}},
      [call] { call.Run(); });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
