// SPDX-License-Identifier: Apache-2.0
// High-level API that runs as one step here: SelectWithBytesMask, SoftmaxGrad. What they do is modelled, not how many
// instructions they take.
#include <array>

#include "device/high.h"
#include "device/vec.h"

namespace aclsim {

namespace {

// These functions' scratch may be absent; its least size is not modelled.
HighWork WorkOf(const Ub& work, uint32_t bytes) { return {work, bytes, bytes != 0}; }

}  // namespace

void VecSelectBytes(const Ub& dst, const Ub& src, ScalarValue scalar, const Ub& mask,
                    const Ub& work, const SelectBytesCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "SelectWithBytesMask";
  RequireFloat(core, dst.dtype);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const auto maskWidth = static_cast<int64_t>(WidthOf(mask.dtype));
  const int64_t rows = ctl.rows;
  const int64_t columns = ctl.columns;
  const int64_t maskColumns = ctl.maskColumns;
  if (columns * width % kBlock != 0 || maskColumns * maskWidth % kBlock != 0 ||
      maskColumns % 16 != 0 || maskColumns < columns || rows * columns != ctl.srcSize ||
      rows * maskColumns != ctl.maskSize) {
    ThrowFault("shape",
               Format("firstAxis %lld, srcLastAxis %lld, maskLastAxis %lld with a source of %u and "
                      "a mask of %u elements",
                      static_cast<long long>(rows), static_cast<long long>(columns),
                      static_cast<long long>(maskColumns), ctl.srcSize, ctl.maskSize),
               "Hardware would select by the wrong mask elements. Both last axes fill whole "
               "32-byte blocks, the mask's is a "
               "multiple of 16 and not the shorter one, and the axes multiply to the tensors' "
               "sizes (SetSize).");
  }
  if (rows == 0 || columns == 0) {
    return;
  }
  const int64_t bytes = rows * columns * width;
  const int64_t maskBytes = rows * maskColumns * maskWidth;
  const HighWork scratch = WorkOf(work, ctl.workBytes);
  const HighOperand result = {&dst, bytes, "dst"};
  const HighOperand source = {&src, bytes, "src"};
  const HighOperand flags = {&mask, maskBytes, "mask"};
  for (const HighOperand& operand : {result, source, flags}) {
    CheckHighOperand(core, operand);
  }
  CheckHighOverlap(core, result, source, true);
  CheckHighOverlap(core, result, flags, false);
  CheckHighWork(core, scratch, 0, {result, source, flags});
  std::array<uint8_t, 4> constant{};
  StoreLane(dst.dtype, constant.data(), static_cast<float>(scalar.f));
  const uint64_t to = core.UbOffset(dst.addr);
  const uint64_t from = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = dst.dtype;
        if (ctl.workBytes != 0) {
          record.Add(WorkAccess(core, scratch));
        }
        record.Add(UbAccess(core, Use::kWrite, dst, bytes));
        record.Add(UbAccess(core, Use::kRead, src, bytes));
        record.Add(UbAccess(core, Use::kRead, mask, maskBytes));
      },
      [=, base = core.ub](uint8_t* ub) {
        // The real mask says which lanes move, also on another image of UB.
        constexpr std::array<uint8_t, 4> kZero{};
        const uint8_t* const value = ub == base ? constant.data() : kZero.data();
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            const int64_t at = (r * columns + c) * width;
            const uint8_t* flag = mask.addr + (r * maskColumns + c) * maskWidth;
            const bool set = std::memcmp(flag, kZero.data(), static_cast<size_t>(maskWidth)) != 0;
            std::memmove(ub + to + at, set == ctl.scalarWhenSet ? value : ub + from + at,
                         static_cast<size_t>(width));
          }
        }
        if (ub == base) {
          SpoilHighWork(scratch);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

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
  const HighWork scratch = WorkOf(work, ctl.workBytes);
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
