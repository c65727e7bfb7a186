// SPDX-License-Identifier: Apache-2.0
// The high-level function SelectWithBytesMask, as one step: its result is modelled, not how many instructions it takes.
#include <array>

#include "device/high.h"
#include "device/vec.h"

namespace aclsim {

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
  // The scratch may be absent; its least size is not modelled.
  const HighWork scratch = {work, ctl.workBytes, ctl.workBytes != 0};
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

}  // namespace aclsim
