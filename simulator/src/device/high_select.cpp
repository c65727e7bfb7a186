// SPDX-License-Identifier: Apache-2.0
// The high-level functions SelectWithBytesMask and DropOut, as one step each: their results are modelled, not how many instructions
// they take.
#include <array>

#include "device/high.h"
#include "device/vec.h"

namespace aclsim {

namespace {

// One step that takes lanes of src by a mask: what is checked, and who reads and writes what. lanes(to, from, isReal) writes those of an
// image; in another one than the core's own they have no value. The real mask chooses there, too.
template <typename Lanes>
void IssueByMask(Core& core, const HighOperand& dst, const HighOperand& src,
                 const HighOperand& mask, const HighWork& work, int64_t leastWork,
                 const Lanes& lanes) {
  for (const HighOperand& operand : {dst, src, mask}) {
    CheckHighOperand(core, operand);
  }
  CheckHighOverlap(core, dst, src, true);
  CheckHighOverlap(core, dst, mask, false);
  CheckHighWork(core, work, leastWork, {dst, src, mask});
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = dst.ub->dtype;
        if (work.given) {
          record.Add(WorkAccess(core, work));
        }
        record.Add(UbAccess(core, Use::kWrite, *dst.ub, dst.bytes));
        record.Add(UbAccess(core, Use::kRead, *src.ub, src.bytes));
        record.Add(UbAccess(core, Use::kRead, *mask.ub, mask.bytes));
      },
      [=, to = core.UbOffset(dst.ub->addr), from = core.UbOffset(src.ub->addr),
       base = core.ub](uint8_t* ub) {
        lanes(ub + to, ub + from, ub == base);
        if (ub == base) {
          SpoilHighWork(work);
        }
      });
}

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
  // The scratch may be absent; its least size is not modelled.
  const HighWork scratch = {work, ctl.workBytes, ctl.workBytes != 0};
  std::array<uint8_t, 4> constant{};
  StoreLane(dst.dtype, constant.data(), static_cast<float>(scalar.f));
  IssueByMask(core, {&dst, bytes, "dst"}, {&src, bytes, "src"}, {&mask, maskBytes, "mask"}, scratch,
              0, [=](uint8_t* to, const uint8_t* from, bool isReal) {
                constexpr std::array<uint8_t, 4> kZero{};
                const uint8_t* const value = isReal ? constant.data() : kZero.data();
                for (int64_t r = 0; r < rows; ++r) {
                  for (int64_t c = 0; c < columns; ++c) {
                    const int64_t at = (r * columns + c) * width;
                    const uint8_t* flag = mask.addr + (r * maskColumns + c) * maskWidth;
                    const bool set =
                        std::memcmp(flag, kZero.data(), static_cast<size_t>(maskWidth)) != 0;
                    std::memmove(to + at, set == ctl.scalarWhenSet ? value : from + at,
                                 static_cast<size_t>(width));
                  }
                }
              });
}
ACLSIM_SKIPS_FAULTS()

namespace {

// Keeps returns whether the mask of DropOut keeps an element. The lowest bit of a byte is that of its first element.
bool Keeps(const uint8_t* mask, const DropOutCtl& ctl, int64_t row, int64_t column) {
  const int64_t columns = ctl.columns, element = row * columns + column;
  if (!ctl.bits) {
    return mask[ctl.contiguous ? element : row * ctl.maskColumns + column] != 0;
  }
  const int64_t bit = ctl.contiguous ? element : row * ctl.maskColumns * 8 + column;
  return (mask[bit / 8] >> (bit % 8) & 1) != 0;
}

void CheckDropOut(const DropOutCtl& ctl) {
  const int64_t row = int64_t{ctl.maskColumns} * (ctl.bits ? 8 : 1);
  if (!(ctl.keepProb > 0 && ctl.keepProb < 1)) {
    ThrowFault("shape", Format("keepProb is %g", static_cast<double>(ctl.keepProb)),
               "The page of DropOut wants a probability between 0 and 1, both excluded.");
  }
  if (ctl.maskColumns == 0 ||
      (!ctl.contiguous && (row < ctl.columns || ctl.maskColumns % 2 != 0))) {
    ThrowFault(
        "shape",
        Format("maskLastAxis is %u for rows of %u elements, by %s", ctl.maskColumns, ctl.columns,
               ctl.bits ? "bits" : "bytes"),
        "Hardware would drop by the wrong mask elements. A row of the mask with padding has an "
        "even number of bytes and is not shorter than the source's.");
  }
}

}  // namespace

void VecDropOut(const Ub& dst, const Ub& src, const Ub& mask, const Ub& work,
                const DropOutCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "DropOut";
  RequireFloat(core, dst.dtype);
  CheckDropOut(ctl);
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const int64_t rows = ctl.rows, columns = ctl.columns, bytes = rows * columns * width;
  if (bytes == 0) {
    return;
  }
  const int64_t inRow = ctl.contiguous ? columns / (ctl.bits ? 8 : 1) : ctl.maskColumns;
  const int64_t maskBytes = ctl.contiguous && ctl.bits ? (rows * columns + 7) / 8 : rows * inRow;
  const HighWork scratch = {work, ctl.workBytes, ctl.workBytes != 0};
  std::array<uint8_t, 4> stored{};
  StoreLane(dst.dtype, stored.data(), 1.0f / ctl.keepProb);
  const float factor = LoadLane(dst.dtype, stored.data());
  constexpr int64_t kLeast = 512;  // GetDropOutMinTmpSize
  IssueByMask(core, {&dst, bytes, "dst"}, {&src, bytes, "src"}, {&mask, maskBytes, "mask"}, scratch,
              ctl.workBytes != 0 ? kLeast : 0,
              [=, type = dst.dtype](uint8_t* to, const uint8_t* from, bool isReal) {
                for (int64_t at = 0; at < rows * columns; ++at) {
                  uint8_t* const lane = to + at * width;
                  if (!Keeps(mask.addr, ctl, at / columns, at % columns)) {
                    std::memset(lane, 0, static_cast<size_t>(width));
                  } else if (isReal) {
                    StoreLane(type, lane, LoadLane(type, from + at * width) * factor);
                  } else {
                    std::memmove(lane, from + at * width, static_cast<size_t>(width));
                  }
                }
              });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
