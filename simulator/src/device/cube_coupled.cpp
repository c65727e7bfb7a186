// SPDX-License-Identifier: Apache-2.0
// What a core with both units has in place of Fixpipe: copies between L0C and UB by the vector pipe, from UB to L1 by MTE3.
#include <algorithm>

#include "device/cube.h"
#include "device/vec.h"

namespace aclsim {

namespace {

constexpr uint64_t kElements = 256;  // of a fractal of L0C
constexpr uint64_t kColumns = 16;
constexpr const char* kSplitCopy = "Hardware keeps the low bits: another copy. Split it.";

uint64_t SpanOf(uint64_t count, uint64_t step, uint64_t len) { return (count - 1) * step + len; }

// Elements that are copied one by one, by bytes of their places.
struct Element {
  DType src, dst;
  bool relu;

  void operator()(uint8_t* to, const uint8_t* from) const {
    const auto keep = [&](auto value) {
      std::memcpy(&value, from, sizeof(value));
      return relu && value < 0 ? decltype(value)(0) : value;
    };
    if (src == DType::kInt32) {
      const int32_t value = keep(int32_t{});
      std::memcpy(to, &value, sizeof(value));
      return;
    }
    uint16_t bits = 0;
    float value = 0;
    if (src == DType::kHalf) {
      std::memcpy(&bits, from, sizeof(bits));
      value = HalfToFloat(bits);
      value = relu && value < 0 ? 0.0f : value;
    } else {
      value = keep(0.0f);
    }
    if (dst == DType::kFloat) {
      std::memcpy(to, &value, sizeof(value));
      return;
    }
    if (src != DType::kHalf || (relu && (bits & 0x8000u) != 0)) {
      bits = FloatToHalf(value);
    }
    std::memcpy(to, &bits, sizeof(bits));
  }
};

// `count` runs of `len` units; a unit is a fractal or its first row.
struct FractalMove {
  uint64_t to = 0, from = 0;  // in the image
  uint64_t count = 0, len = 0;
  uint64_t dstStep = 0, srcStep = 0;  // bytes between runs
  uint64_t dstUnit = 0, srcUnit = 0;  // bytes between units
  uint64_t elements = 0;              // of a unit
  Element element;
  const uint8_t* own = nullptr;

  void operator()(uint8_t* image) const {
    const uint64_t srcWidth = WidthOf(element.src), dstWidth = WidthOf(element.dst);
    for (uint64_t i = 0; i < count * len; ++i) {
      uint8_t* const target = image + to + i / len * dstStep + i % len * dstUnit;
      const uint8_t* const source = image + from + i / len * srcStep + i % len * srcUnit;
      for (uint64_t at = 0; at < elements; ++at) {
        if (image == own) {
          element(target + at * dstWidth, source + at * srcWidth);
          continue;
        }
        const bool junk = std::any_of(source + at * srcWidth, source + (at + 1) * srcWidth,
                                      [](uint8_t byte) { return byte != 0; });
        std::memset(target + at * dstWidth, junk ? 0xFF : 0, dstWidth);
      }
    }
  }
};

void CheckFractalTypes(const Core& core, DType dst, DType src) {
  const bool known = src == DType::kFloat || src == DType::kInt32 || src == DType::kHalf;
  if (known && (src == dst || (src == DType::kFloat && dst == DType::kHalf))) {
    return;
  }
  if (src == DType::kInt32) {
    ThrowNotSimulated(
        Format("%s of int32_t to %s, which takes a deqScale", core.instruction, NameOf(dst)));
  }
  ThrowFault("dtype-unsupported",
             Format("%s of %s to %s", core.instruction, NameOf(src), NameOf(dst)),
             "The device compiler refuses it. Between L0C and UB go half, float and int32_t as "
             "they are, and float as half.");
}

// Accesses of a move whose units do not follow each other have chunks.
Access Side(const Core& core, const Ub& operand, Use use, const FractalMove& move, bool dst) {
  const uint64_t unit = dst ? move.dstUnit : move.srcUnit;
  const uint64_t chunk = move.elements * WidthOf(operand.dtype);
  Access access = PartOf(core, operand, use, 0, move.len * chunk, move.count,
                         dst ? move.dstStep : move.srcStep);
  if (unit != chunk) {
    access.chunk = chunk;
    access.chunkStride = Signed(unit);
  }
  return access;
}

void IssueFractals(Core& core, const Ub& dst, const Ub& src, const FractalMove& move) {
  const auto end = [&](uint64_t step, uint64_t unit, DType dtype) {
    return Signed(SpanOf(move.count, step, SpanOf(move.len, unit, move.elements * WidthOf(dtype))));
  };
  core.CheckUb(src, 0, end(move.srcStep, move.srcUnit, src.dtype), "src");
  core.CheckUb(dst, 0, end(move.dstStep, move.dstUnit, dst.dtype), "dst");
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = static_cast<int32_t>(move.count * move.len);
        record.Add(Side(core, dst, Use::kWrite, move, true));
        record.Add(Side(core, src, Use::kRead, move, false));
      },
      move);
}

}  // namespace

void CheckInUb(Core& core, const Ub& operand, const char* role) {
  if (operand.buf != 0 && core.SpaceOf(operand) != Space::kUb) {
    CheckOperandIn(core, operand, {Space::kUb}, 1, role);
  }
}

void CubeCopyUbToL1(const Ub& dst, const Ub& src, const CopyCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "DataCopy (UB to L1)";
  CheckIsCube(core);
  const Space from = core.SpaceOf(src), to = core.SpaceOf(dst);
  if (from == Space::kL0c || to == Space::kL0c) {
    ThrowFault("instruction-absent", "DataCopy between L0C and UB without a block mode",
               "Hardware copies fractals there: pass DataCopyEnhancedParams with blockMode "
               "BLOCK_MODE_MATRIX, or BLOCK_MODE_VECTOR for the first row of each.");
  }
  CheckWay(core, from, to);
  CheckRange("blockCount", ctl.blockCount, 0, 4095, kSplitCopy);
  if (ctl.blockCount == 0 || ctl.blockLen == 0) {
    core.MarkIdle(dst, "copies nothing: its blockCount or blockLen is 0");
    return;
  }
  CheckOperandIn(core, dst, {Space::kL1}, kCubeBlock, "dst");
  CheckOperandIn(core, src, {Space::kUb}, kCubeBlock, "src");
  const uint64_t dstStep = ctl.blockLen + ctl.dstGap, srcStep = ctl.blockLen + ctl.srcGap;
  core.CheckUb(dst, 0, Signed(SpanOf(ctl.blockCount, dstStep, ctl.blockLen)), "dst");
  core.CheckUb(src, 0, Signed(SpanOf(ctl.blockCount, srcStep, ctl.blockLen)), "src");
  const uint64_t target = core.UbOffset(dst.addr), source = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kMte3,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = static_cast<int32_t>(CeilDiv(ctl.blockCount * ctl.blockLen, kCubeBlock));
        record.Add(PartOf(core, dst, Use::kWrite, 0, ctl.blockLen, ctl.blockCount, dstStep));
        record.Add(PartOf(core, src, Use::kRead, 0, ctl.blockLen, ctl.blockCount, srcStep));
      },
      [=](uint8_t* image) {
        for (uint64_t i = 0; i < ctl.blockCount; ++i) {
          std::memcpy(image + target + i * dstStep, image + source + i * srcStep, ctl.blockLen);
        }
      });
}
ACLSIM_SKIPS_FAULTS()

void CubeCopyFractals(const Ub& dst, const Ub& src, const FractalCopyCtl& ctl) try {
  Core& core = Core::Current();
  const bool out = core.SpaceOf(src) == Space::kL0c;
  core.instruction = out ? "DataCopy (L0C to UB)" : "DataCopy (UB to L0C)";
  CheckIsCube(core);
  CheckWay(core, core.SpaceOf(src), core.SpaceOf(dst));
  CheckRange("blockCount", ctl.count, 0, 4095, kSplitCopy);
  CheckRange("blockLen", ctl.len, 0, 65535, kSplitCopy);
  if (ctl.count == 0 || ctl.len == 0) {
    core.MarkIdle(dst, "copies nothing: its blockCount or blockLen is 0");
    return;
  }
  if (!out && ctl.relu) {
    ThrowFault("instruction-absent", "isRelu of a copy into L0C",
               "Hardware has it on the way out of L0C only.");
  }
  const auto fractalOf = [](const Ub& operand) {
    return static_cast<uint32_t>(kElements * WidthOf(operand.dtype));
  };
  CheckOperandIn(core, out ? src : dst, {Space::kL0c}, fractalOf(out ? src : dst),
                 out ? "src" : "dst");
  CheckOperandIn(core, out ? dst : src, {Space::kUb}, kCubeBlock, out ? "dst" : "src");
  CheckFractalTypes(core, dst.dtype, src.dtype);
  FractalMove move;
  move.elements = ctl.rows ? kColumns : kElements;
  move.count = ctl.count;
  move.len = ctl.len;
  const auto unitOf = [&](const Ub& operand, bool l0c) {
    return l0c ? uint64_t{fractalOf(operand)} : move.elements * WidthOf(operand.dtype);
  };
  move.srcUnit = unitOf(src, out);
  move.dstUnit = unitOf(dst, !out);
  move.srcStep = ctl.len * move.srcUnit + ctl.srcGap * (out ? fractalOf(src) : kCubeBlock);
  move.dstStep = ctl.len * move.dstUnit + ctl.dstGap * (out ? kCubeBlock : fractalOf(dst));
  move.to = core.UbOffset(dst.addr);
  move.from = core.UbOffset(src.addr);
  move.element = {src.dtype, dst.dtype, ctl.relu};
  move.own = core.ub;
  IssueFractals(core, dst, src, move);
}
ACLSIM_SKIPS_FAULTS()

void CubeBroadcast(const Ub& dst, const Ub& src, uint64_t count, uint64_t len, uint64_t srcGap,
                   uint64_t dstGap) try {
  Core& core = Core::Current();
  core.instruction = "BroadCastVecToMM";
  CheckIsCube(core);
  CheckWay(core, core.SpaceOf(src), core.SpaceOf(dst));
  CheckRange("blockCount", count, 0, 65535, kSplitCopy);
  CheckRange("blockLen", len, 0, 255, kSplitCopy);
  if (count == 0 || len == 0) {
    core.MarkIdle(dst, "broadcasts nothing: its blockCount or blockLen is 0");
    return;
  }
  const uint64_t width = WidthOf(dst.dtype);
  CheckOperandIn(core, dst, {Space::kL0c}, static_cast<uint32_t>(kElements * width), "dst");
  CheckOperandIn(core, src, {Space::kUb}, kCubeBlock, "src");
  CheckFractalTypes(core, dst.dtype, src.dtype);
  if (src.dtype != dst.dtype) {
    ThrowFault("dtype-unsupported",
               Format("BroadCastVecToMM of %s to %s", NameOf(src.dtype), NameOf(dst.dtype)),
               "The device compiler refuses it: both have one type.");
  }
  const uint64_t row = kColumns * width, fractal = kElements * width;
  const uint64_t srcStep = len * row + srcGap * kCubeBlock, dstStep = (len + dstGap) * fractal;
  core.CheckUb(src, 0, Signed(SpanOf(count, srcStep, len * row)), "src");
  core.CheckUb(dst, 0, Signed(SpanOf(count, dstStep, len * fractal)), "dst");
  const uint64_t to = core.UbOffset(dst.addr), from = core.UbOffset(src.addr);
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.dtype = dst.dtype;
        record.repeat = static_cast<int32_t>(count * len);
        record.Add(PartOf(core, dst, Use::kWrite, 0, len * fractal, count, dstStep));
        record.Add(PartOf(core, src, Use::kRead, 0, len * row, count, srcStep));
      },
      [=](uint8_t* image) {
        for (uint64_t i = 0; i < count * len; ++i) {
          uint8_t* const target = image + to + i / len * dstStep + i % len * fractal;
          const uint8_t* const source = image + from + i / len * srcStep + i % len * row;
          for (uint64_t r = 0; r < kFractalRows; ++r) {
            std::memcpy(target + r * row, source, row);
          }
        }
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
