// SPDX-License-Identifier: Apache-2.0
// High-level functions of rows: the softmax family. They are evaluated in double and rounded once, SoftmaxGrad in float.
#include <vector>

#include "device/high.h"
#include "device/high_sizes.h"
#include "device/vec.h"

namespace aclsim {

namespace {

constexpr const char* kNames[] = {"SoftMax", "SimpleSoftMax", "LogSoftMax"};
static_assert(std::size(kNames) == static_cast<size_t>(HighSoftmax::kCount));

void FillBlock(DType dtype, uint8_t* block, double value) {
  const auto lanes = kBlock / static_cast<int64_t>(WidthOf(dtype));
  for (int64_t i = 0; i < lanes; ++i) {
    StoreFloat(dtype, block, i, value);
  }
}

void RunRow(HighSoftmax op, const HighSoftmaxCall& call, int64_t row) {
  const DType dtype = call.src.dtype;
  const auto rowBytes = static_cast<int64_t>(call.columns * WidthOf(dtype));
  const uint8_t* src = call.src.addr + row * rowBytes;
  double max = 0;
  double sum = 0;
  if (op == HighSoftmax::kSimple) {
    max = LoadFloat(call.max.dtype, call.max.addr + row * kBlock, 0);
    sum = LoadFloat(call.sum.dtype, call.sum.addr + row * kBlock, 0);
  } else {
    max = LoadFloat(dtype, src, 0);
    for (int64_t i = 1; i < call.summed; ++i) {
      const double v = LoadFloat(dtype, src, i);
      max = max != max || v <= max ? max : v;  // NaN wins
    }
    for (int64_t i = 0; i < call.summed; ++i) {
      sum += std::exp(LoadFloat(dtype, src, i) - max);
    }
  }
  for (int64_t i = 0; i < call.columns; ++i) {
    const double share = std::exp(LoadFloat(dtype, src, i) - max) / sum;
    const double value = op == HighSoftmax::kLog
                             ? (LoadFloat(dtype, src, i) - max) / std::log(10.0) - std::log10(sum)
                             : share;
    StoreFloat(dtype, call.dst.addr + row * rowBytes, i, value);
  }
  if (call.statistics && op != HighSoftmax::kSimple) {
    FillBlock(call.max.dtype, call.max.addr + row * kBlock, max);
    FillBlock(call.sum.dtype, call.sum.addr + row * kBlock, sum);
  }
}

// Checks what every softmax asks of its source. Returns the bytes of a row.
int64_t CheckRows(Core& core, DType dtype, uint32_t rows, uint32_t columns, uint32_t summed) {
  RequireFloat(core, dtype);
  const auto rowBytes = static_cast<int64_t>(columns * WidthOf(dtype));
  if (rowBytes % kBlock != 0 || summed > columns || (rows != 0 && summed == 0)) {
    ThrowFault("shape",
               Format("srcM %u, srcK %u, oriSrcK %u of %s", rows, columns, summed, NameOf(dtype)),
               "Hardware would mix rows. srcK fills whole 32-byte blocks and is not below "
               "oriSrcK.");
  }
  ResetMaskRegister(core);
  return rowBytes;
}

}  // namespace

void HighSoftmaxRows(HighSoftmax op, const HighSoftmaxCall& call) try {
  Core& core = Core::Current();
  core.instruction = kNames[static_cast<size_t>(op)];
  const DType dtype = call.src.dtype;
  const int64_t rowBytes = CheckRows(core, dtype, call.rows, call.columns, call.summed);
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t rows = call.rows;
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
  // The padding of a row takes no part in its sum; its own lanes are nobody's result.
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
ACLSIM_SKIPS_FAULTS()

namespace {

void RunFlashRow(const HighSoftmaxFlashCall& call, int64_t row) {
  const DType dtype = call.src.dtype;
  const auto rowBytes = static_cast<int64_t>(call.columns * WidthOf(dtype));
  const uint8_t* src = call.src.addr + row * rowBytes;
  const auto at = [&](const Ub& ub) {
    return ub.addr + row * (call.packed ? static_cast<int64_t>(WidthOf(ub.dtype)) : kBlock);
  };
  const auto statistic = [&](const Ub& ub) { return LoadFloat(ub.dtype, at(ub), 0); };
  const auto store = [&](const Ub& ub, double value) {
    call.packed ? StoreFloat(ub.dtype, at(ub), 0, value) : FillBlock(ub.dtype, at(ub), value);
  };
  const double inMax = call.update ? statistic(call.inMax) : 0;
  const double inSum = call.update ? statistic(call.inSum) : 0;
  const auto greater = [](double max, double v) {
    return max != max || v <= max ? max : v;  // NaN wins
  };
  double own = LoadFloat(dtype, src, 0);
  for (int64_t i = 1; i < call.summed; ++i) {
    own = greater(own, LoadFloat(dtype, src, i));
  }
  const double max = call.update ? greater(inMax, own) : own;
  double sum = 0;
  for (int64_t i = 0; i < call.summed; ++i) {
    sum += std::exp(LoadFloat(dtype, src, i) - max);
  }
  if (call.update) {
    const double before = std::exp(inMax - max);
    sum += before * inSum;
    store(call.expMax, call.divide ? before * inSum / sum : before);
  }
  for (int64_t i = 0; i < call.columns; ++i) {
    const double share = std::exp(LoadFloat(dtype, src, i) - max);
    StoreFloat(dtype, call.dst.addr + row * rowBytes, i, call.divide ? share / sum : share);
  }
  store(call.max, max);
  store(call.sum, sum);
  if (call.keepsReduceMax) {
    store(call.reduceMax, own);
  }
}

}  // namespace

void HighSoftmaxFlash(const HighSoftmaxFlashCall& call) try {
  Core& core = Core::Current();
  core.instruction = call.divide ? "SoftmaxFlash" : "SoftmaxFlashV2";
  const DType dtype = call.src.dtype;
  const int64_t rowBytes = CheckRows(core, dtype, call.rows, call.columns, call.summed);
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t rows = call.rows;
  const int64_t bytes = rows * rowBytes;
  if (bytes == 0) {
    return;
  }
  const auto step = [&](const Ub& ub) {
    return call.packed ? static_cast<int64_t>(WidthOf(ub.dtype)) : kBlock;
  };
  const auto statistic = [&](const Ub& ub, const char* role, bool has) {
    return HighOperand{&ub, has ? rows * step(ub) : 0, role};
  };
  const HighOperand dst = {&call.dst, bytes, "dst"};
  const HighOperand src = {&call.src, bytes, "src"};
  const HighOperand sum = statistic(call.sum, "sumTensor", true);
  const HighOperand max = statistic(call.max, "maxTensor", true);
  const HighOperand expMax = statistic(call.expMax, "expMaxTensor", call.update);
  const HighOperand reduceMax = statistic(call.reduceMax, "outReduceMax", call.keepsReduceMax);
  const HighOperand inSum = statistic(call.inSum, "inSumTensor", call.update);
  const HighOperand inMax = statistic(call.inMax, "inMaxTensor", call.update);
  for (const HighOperand& operand : {dst, src, sum, max, expMax, reduceMax, inSum, inMax}) {
    if (operand.bytes != 0) {
      CheckHighOperand(core, operand);
    }
  }
  CheckHighOverlap(core, dst, src, true);
  if (call.update) {
    CheckHighOverlap(core, sum, inSum, true);
    CheckHighOverlap(core, max, inMax, true);
    CheckHighOverlap(core, expMax, inMax, false);
    CheckHighOverlap(core, expMax, inSum, false);
  }
  const int64_t least = call.divide
                            ? FlashRow(width, call.columns, call.update) * 4
                            : FlashV2Scratch(width, static_cast<int64_t>(WidthOf(call.sum.dtype)),
                                             rows, call.columns, call.basicBlock, call.packed);
  CheckHighWork(core, call.work, least, {dst, src, sum, max, expMax, reduceMax, inSum, inMax});
  const auto access = [&](Use use, const HighOperand& operand) {
    return operand.bytes == 0
               ? Access{}
               : HighRows(core, use, *operand.ub, rows, step(*operand.ub), step(*operand.ub));
  };
  IssueHighLevel(
      core, Flow::kRepeats, dtype,
      {WorkAccess(core, call.work), HighRows(core, Use::kWrite, call.dst, rows, rowBytes, rowBytes),
       access(Use::kWrite, sum), access(Use::kWrite, max), access(Use::kWrite, expMax),
       access(Use::kWrite, reduceMax),
       HighRows(core, Use::kRead, call.src, rows, int64_t{call.summed} * width, rowBytes),
       access(Use::kRead, inSum), access(Use::kRead, inMax)},
      [=] {
        for (int64_t r = 0; r < rows; ++r) {
          RunFlashRow(call, r);
        }
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

bool HighAdjustSoftmax(const Ub& dst, const Ub& max, uint32_t from, ScalarValue to, uint32_t rows,
                       uint32_t columns, bool packed) try {
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
  const size_t maxWidth = WidthOf(max.dtype);
  const int64_t step = packed ? static_cast<int64_t>(maxWidth) : kBlock;
  CheckHighOperand(core, {&max, rows * step, "maxTensor"});
  ResetMaskRegister(core);
  const auto matches = [=](uint32_t r) {
    uint32_t bits = 0;
    std::memcpy(&bits, max.addr + r * step, maxWidth);
    return bits == from;
  };
  core.ScalarWaits(Pipe::kVector);
  core.ScalarAccess(HighRows(core, Use::kRead, max, rows, static_cast<int64_t>(maxWidth), step),
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
      for (int64_t i = 0; i < columns; ++i) {
        StoreFloat(dst.dtype, row.addr, i, to.f);
      }
    });
  }
  return found;
}
ACLSIM_SKIPS_FAULTS({})

void VecSoftmaxGrad(const Ub& dst, const Ub& grad, const Ub& src, const Ub& work,
                    const SoftmaxGradCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "SoftmaxGrad";
  RequireFloat(core, dst.dtype);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t rows = ctl.rows;
  const int64_t columns = ctl.columns;
  if (columns * width % kBlock != 0 || ctl.sumColumns > ctl.columns) {
    ThrowFault(
        "shape",
        Format("srcK %u, oriSrcK %u of %s", ctl.columns, ctl.sumColumns, NameOf(dst.dtype)),
        "Hardware would mix rows. srcK fills whole 32-byte blocks and is not below oriSrcK.");
  }
  if (rows == 0 || columns == 0) {
    return;
  }
  const int64_t bytes = rows * columns * width;
  const int64_t dstBytes = ctl.front ? rows * kBlock : bytes;
  // The scratch may be absent; its least size is not modelled.
  const HighWork scratch = {work, ctl.workBytes, ctl.workBytes != 0};
  const HighOperand result = {&dst, dstBytes, "dst"};
  const HighOperand source = {&src, bytes, "src"};
  const HighOperand gradient = {&grad, bytes, "grad"};
  for (const HighOperand& operand : {result, source, gradient}) {
    CheckHighOperand(core, operand);
  }
  CheckHighOverlap(core, result, source, true);
  CheckHighOverlap(core, result, gradient, true);
  CheckHighWork(core, scratch, 0, {result, source, gradient});
  // The padding of a row takes no part in its sum; its own lanes are nobody's result.
  const int64_t summed = int64_t{ctl.sumColumns} * width;
  IssueHighLevel(core, Flow::kRepeats, dst.dtype,
                 {WorkAccess(core, scratch),
                  HighRows(core, Use::kWrite, dst, rows, dstBytes / rows, dstBytes / rows),
                  HighRows(core, Use::kRead, grad, rows, summed, columns * width),
                  HighRows(core, Use::kRead, src, rows, summed, columns * width)},
                 [=] {
                   for (int64_t r = 0; r < rows; ++r) {
                     const uint8_t* g = grad.addr + r * columns * width;
                     const uint8_t* y = src.addr + r * columns * width;
                     float sum = 0;
                     for (int64_t begin = 0; begin < ctl.sumColumns; begin += 64) {
                       float products[64];
                       const int64_t n = std::min<int64_t>(64, ctl.sumColumns - begin);
                       for (int64_t i = 0; i < n; ++i) {
                         products[i] = LoadLane(dst.dtype, g + (begin + i) * width) *
                                       LoadLane(dst.dtype, y + (begin + i) * width);
                       }
                       float partial;
                       Lanes().treeSumFloat(products, static_cast<size_t>(n), 64, 1, &partial);
                       sum = begin == 0 ? partial : sum + partial;
                     }
                     if (ctl.front) {
                       for (int64_t i = 0; i < kBlock / width; ++i) {
                         StoreLane(dst.dtype, dst.addr + r * kBlock + i * width, sum);
                       }
                       continue;
                     }
                     for (int64_t i = 0; i < columns; ++i) {
                       const float value = (LoadLane(dst.dtype, g + i * width) - sum) *
                                           LoadLane(dst.dtype, y + i * width);
                       StoreLane(dst.dtype, dst.addr + (r * columns + i) * width, value);
                     }
                   }
                   SpoilHighWork(scratch);
                 });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
