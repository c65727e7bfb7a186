// SPDX-License-Identifier: Apache-2.0
// High-level functions of rows: the softmax family. Evaluated in double, rounded once.
#include <vector>

#include "device/high.h"

namespace aclsim {

namespace {

constexpr const char* kNames[] = {"SoftMax", "SimpleSoftMax", "LogSoftMax"};
static_assert(std::size(kNames) == static_cast<size_t>(HighSoftmax::kCount));

bool IsFloat(DType dtype) { return dtype == DType::kFloat || dtype == DType::kHalf; }

double Load(DType dtype, const uint8_t* lanes, size_t i) {
  return dtype == DType::kFloat ? Lane<float>::Load(lanes, i) : Lane<half>::Load(lanes, i);
}
void Store(DType dtype, uint8_t* lanes, size_t i, double value) {
  dtype == DType::kFloat ? Lane<float>::Store(lanes, i, value) : Lane<half>::Store(lanes, i, value);
}
void FillBlock(DType dtype, uint8_t* block, double value) {
  const size_t lanes = kBlock / WidthOf(dtype);
  for (size_t i = 0; i < lanes; ++i) {
    Store(dtype, block, i, value);
  }
}

void RunRow(HighSoftmax op, const HighSoftmaxCall& call, int64_t row) {
  const DType dtype = call.src.dtype;
  const auto rowBytes = static_cast<int64_t>(call.columns * WidthOf(dtype));
  const uint8_t* src = call.src.addr + row * rowBytes;
  double max = 0;
  double sum = 0;
  if (op == HighSoftmax::kSimple) {
    max = Load(call.max.dtype, call.max.addr + row * kBlock, 0);
    sum = Load(call.sum.dtype, call.sum.addr + row * kBlock, 0);
  } else {
    max = Load(dtype, src, 0);
    for (size_t i = 1; i < call.summed; ++i) {
      const double v = Load(dtype, src, i);
      max = max != max || v <= max ? max : v;  // NaN wins
    }
    for (size_t i = 0; i < call.summed; ++i) {
      sum += std::exp(Load(dtype, src, i) - max);
    }
  }
  for (size_t i = 0; i < call.columns; ++i) {
    const double share = std::exp(Load(dtype, src, i) - max) / sum;
    const double value = op == HighSoftmax::kLog
                             ? (Load(dtype, src, i) - max) / std::log(10.0) - std::log10(sum)
                             : share;
    Store(dtype, call.dst.addr + row * rowBytes, i, value);
  }
  if (call.statistics && op != HighSoftmax::kSimple) {
    FillBlock(call.max.dtype, call.max.addr + row * kBlock, max);
    FillBlock(call.sum.dtype, call.sum.addr + row * kBlock, sum);
  }
}

}  // namespace

void HighSoftmaxRows(HighSoftmax op, const HighSoftmaxCall& call) {
  Core& core = Core::Current();
  core.instruction = kNames[static_cast<size_t>(op)];
  const DType dtype = call.src.dtype;
  if (!IsFloat(dtype)) {
    UnsupportedDType(core, core.instruction, dtype);
  }
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t rows = call.rows;
  const int64_t rowBytes = int64_t{call.columns} * width;
  if (rowBytes % kBlock != 0 || call.summed > call.columns || (rows != 0 && call.summed == 0)) {
    ThrowFault(
        "shape",
        Format("srcM %u, srcK %u, oriSrcK %u of %s", call.rows, call.columns, call.summed,
               NameOf(dtype)),
        "Hardware would mix rows. srcK fills whole 32-byte blocks and is not below oriSrcK.");
  }
  ResetMaskRegister(core);
  const int64_t bytes = rows * rowBytes;
  if (bytes == 0) {
    return;
  }
  const HighOperand dst = {&call.dst, bytes, "dst"};
  const HighOperand src = {&call.src, bytes, "src"};
  HighOperand sum = {&call.sum, rows * kBlock, "sumTensor"};
  HighOperand max = {&call.max, rows * kBlock, "maxTensor"};
  CheckHighOperand(core, dst);
  CheckHighOperand(core, src);
  CheckHighOverlap(core, dst, src, op != HighSoftmax::kLog);
  if (call.statistics) {
    CheckHighOperand(core, sum);
    CheckHighOperand(core, max);
  } else {
    sum = max = dst;
  }
  // Floats per row: the row, a block for its maximum or sum, and one repeat of partial sums.
  const int64_t scratch = op == HighSoftmax::kSimple
                              ? 0
                              : int64_t{4} * (kBlock / width + call.columns + kRepeatBytes / 4);
  CheckHighWork(core, call.work, scratch, {dst, src, sum, max});
  const Use statistics = op == HighSoftmax::kSimple ? Use::kRead : Use::kWrite;
  const auto blocks = [&](const Ub& operand) {
    return call.statistics ? HighRows(core, statistics, operand, rows, kBlock, kBlock) : Access{};
  };
  // What pads a row takes no part in its sum; its own lanes are nobody's result.
  IssueHighLevel(
      core, Flow::kRepeats, dtype,
      {WorkAccess(core, call.work), HighRows(core, Use::kWrite, call.dst, rows, rowBytes, rowBytes),
       blocks(call.sum), blocks(call.max),
       HighRows(core, Use::kRead, call.src, rows, int64_t{call.summed} * width, rowBytes)},
      [=] {
        for (int64_t r = 0; r < rows; ++r) {
          RunRow(op, call, r);
        }
        SpoilHighWork(call.work);
      });
}

bool HighAdjustSoftmax(const Ub& dst, const Ub& max, uint32_t from, ScalarValue to, uint32_t rows,
                       uint32_t columns) {
  Core& core = Core::Current();
  core.instruction = "AdjustSoftMaxRes";
  if (!IsFloat(dst.dtype) || !IsFloat(max.dtype)) {
    UnsupportedDType(core, core.instruction, IsFloat(dst.dtype) ? max.dtype : dst.dtype);
  }
  const auto rowBytes = static_cast<int64_t>(columns * WidthOf(dst.dtype));
  if (rows == 0 || rowBytes == 0) {
    return false;
  }
  CheckHighOperand(core, {&dst, rows * rowBytes, "softMaxRes"});
  CheckHighOperand(core, {&max, rows * kBlock, "maxTensor"});
  ResetMaskRegister(core);
  const size_t maxWidth = WidthOf(max.dtype);
  const auto matches = [=](uint32_t r) {
    uint32_t bits = 0;
    std::memcpy(&bits, max.addr + r * kBlock, maxWidth);
    return bits == from;
  };
  core.ScalarWaits(Pipe::kVector);
  core.ScalarAccess(HighRows(core, Use::kRead, max, rows, static_cast<int64_t>(maxWidth), kBlock),
                    max.dtype);
  bool found = false;
  for (uint32_t r = 0; r < rows; ++r) {
    if (!matches(r)) {
      continue;
    }
    found = true;
    Ub row = dst;
    row.addr += r * rowBytes;
    IssueHighLevel(core, Flow::kNone, dst.dtype, {UbAccess(core, Use::kWrite, row, rowBytes)}, [=] {
      for (size_t i = 0; i < columns; ++i) {
        Store(dst.dtype, row.addr, i, to.f);
      }
    });
  }
  return found;
}

}  // namespace aclsim
