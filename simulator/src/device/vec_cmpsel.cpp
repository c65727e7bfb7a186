// SPDX-License-Identifier: Apache-2.0
// Compare and Select: lanes against lanes or a scalar, one mask bit per element.
#include "device/vec.h"

namespace aclsim {

namespace {

constexpr const char* kModes[] = {"LT", "GT", "EQ", "LE", "GE", "NE"};

// A NaN on either side compares false in every mode, also in NE: documented, and unlike IEEE.
template <typename C>
bool Holds(Compare op, C a, C b) {
  switch (op) {
    case Compare::kLt:
      return a < b;
    case Compare::kGt:
      return a > b;
    case Compare::kEq:
      return a == b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGe:
      return a >= b;
    default:
      return a < b || a > b;
  }
}

float LaneAsFloat(DType dtype, const uint8_t* addr) {
  if (dtype == DType::kFloat) {
    float value;
    std::memcpy(&value, addr, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, addr, sizeof(bits));
  return HalfToFloat(bits);
}

int32_t LaneAsInt(const uint8_t* addr) {
  int32_t value;
  std::memcpy(&value, addr, sizeof(value));
  return value;
}

void RequireFloatLanes(Core& core, DType dtype) {
  if (dtype != DType::kFloat && dtype != DType::kHalf) {
    UnsupportedDType(core, core.instruction, dtype);
  }
}

}  // namespace

void VecCompare(Compare op, const Ub& dst, const Ub& src0, const Ub* src1, ScalarValue scalar,
                const VecCtl& ctlIn) {
  Core& core = Core::Current();
  core.instruction = src1 != nullptr ? "Compare" : "CompareScalar";
  const DType dtype = src0.dtype;
  const bool integer = dtype == DType::kInt32;
  if (integer && op != Compare::kEq) {
    ThrowFault("dtype-unsupported",
               Format("%s of int32_t has EQ only, not %s", core.instruction,
                      kModes[static_cast<size_t>(op)]),
               "The device compiler refuses it. Cast to float first.");
  }
  if (!integer) {
    RequireFloatLanes(core, dtype);
  }
  // The mask takes no part: whole repeats are compared, and the count form drops what does not fill one.
  const auto width = static_cast<int64_t>(WidthOf(dtype));
  const int64_t perRepeat = kRepeatBytes / width;
  VecCtl ctl = ctlIn;
  LaneSet lanes;
  if (ctl.mode == VecCtl::kCount) {
    ctl.mask[0] -= ctl.mask[0] % static_cast<uint64_t>(perRepeat);
    lanes = ResolveLanes(core, ctl, static_cast<size_t>(width));
  } else {
    lanes.repeat = ctl.repeat;
    lanes.lanes = lanes.active = lanes.lastActive = perRepeat;
    lanes.bits[0] = lanes.bits[1] = ~0ull;
  }
  if (lanes.Empty()) {
    return;
  }
  const OperandWalk a = MakeWalk(src0, "src0", ctl, 1, false);
  OperandWalk b = a;
  CheckWalk(core, a, lanes);
  if (src1 != nullptr) {
    b = MakeWalk(*src1, "src1", ctl, 2, false);
    CheckWalk(core, b, lanes);
  }
  const int64_t extent = lanes.repeat * perRepeat / 8;
  core.CheckUb(dst, 0, extent, "dst");
  core.CheckUbAlign(dst, kBlock, "dst");
  if (core.Observed()) {
    Record record{core.instruction, Pipe::kVector, {}, 2, static_cast<int32_t>(lanes.repeat)};
    record.access[0] = {false, true, core.UbOffset(dst.addr), static_cast<uint64_t>(extent)};
    record.access[1] = {false, false, core.UbOffset(src0.addr),
                        static_cast<uint64_t>(a.Extent(lanes))};
    if (src1 != nullptr) {
      record.access[2] = {false, false, core.UbOffset(src1->addr),
                          static_cast<uint64_t>(b.Extent(lanes))};
      record.accessCount = 3;
    }
    core.Emit(record);
  }
  alignas(64) uint8_t temp0[kRepeatBytes];
  alignas(64) uint8_t temp1[kRepeatBytes];
  const auto scalarFloat = static_cast<float>(scalar.f);
  const auto scalarInt = static_cast<int32_t>(scalar.i);
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    const uint8_t* x =
        lanes.contiguous ? src0.addr + r * kRepeatBytes : GatherRepeat(a, r, perRepeat, temp0);
    const uint8_t* y = x;
    if (src1 != nullptr) {
      y = lanes.contiguous ? src1->addr + r * kRepeatBytes : GatherRepeat(b, r, perRepeat, temp1);
    }
    uint8_t bits[kMaxLanes / 8] = {};
    for (int64_t i = 0; i < perRepeat; ++i) {
      bool holds;
      if (integer) {
        holds = Holds(op, LaneAsInt(x + i * width),
                      src1 != nullptr ? LaneAsInt(y + i * width) : scalarInt);
      } else {
        holds = Holds(op, LaneAsFloat(dtype, x + i * width),
                      src1 != nullptr ? LaneAsFloat(dtype, y + i * width) : scalarFloat);
      }
      bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | (holds ? 1u << (i % 8) : 0u));
    }
    std::memcpy(dst.addr + r * perRepeat / 8, bits, static_cast<size_t>(perRepeat / 8));
  }
}

void VecSelect(const Ub& dst, const Ub& bits, const Ub& src0, const Ub* src1, ScalarValue scalar,
               bool sameBits, const VecCtl& ctl) {
  Core& core = Core::Current();
  core.instruction = "Select";
  RequireFloatLanes(core, dst.dtype);
  if (core.soc.npuArch == 1001 && !sameBits) {
    ThrowFault("instruction-absent",
               Format("this Select mode does not exist on %s", core.soc.name.c_str()),
               "The device compiler refuses it. Use SELMODE::VSEL_CMPMASK_SPR.");
  }
  if (!sameBits) {
    RequireScratch(core);
  }
  const auto width = static_cast<int64_t>(WidthOf(dst.dtype));
  const LaneSet lanes = ResolveLanes(core, ctl, static_cast<size_t>(width));
  if (lanes.Empty()) {
    return;
  }
  const OperandWalk d = MakeWalk(dst, "dst", ctl, 0, true);
  const OperandWalk a = MakeWalk(src0, "src0", ctl, 1, false);
  const OperandWalk b = src1 != nullptr ? MakeWalk(*src1, "src1", ctl, 2, false) : a;
  CheckWalk(core, d, lanes);
  CheckWalk(core, a, lanes);
  CheckOverlap(core, lanes, d, a, false);
  if (src1 != nullptr) {
    CheckWalk(core, b, lanes);
    CheckOverlap(core, lanes, d, b, false);
  }
  const int64_t last =
      lanes.contiguous ? lanes.total - (lanes.repeat - 1) * lanes.lanes : lanes.lastActive;
  const int64_t usedBits = sameBits ? std::min(lanes.lanes, lanes.repeat > 1 ? lanes.lanes : last)
                                    : (lanes.repeat - 1) * lanes.lanes + last;
  core.CheckUb(bits, 0, (usedBits + 7) / 8, "selMask");
  core.CheckUbAlign(bits, kBlock, "selMask");
  const OperandWalk* const walks[] = {&d, &a, &b};
  EmitVector(core, lanes, walks, src1 != nullptr ? 3 : 2);
  uint8_t constant[8] = {};
  if (dst.dtype == DType::kFloat) {
    const auto value = static_cast<float>(scalar.f);
    std::memcpy(constant, &value, sizeof(value));
  } else {
    const uint16_t value = FloatToHalf(static_cast<float>(scalar.f));
    std::memcpy(constant, &value, sizeof(value));
  }
  const auto at = [&](const OperandWalk& walk, int64_t r, int64_t lane) {
    if (lanes.contiguous) {
      return walk.ub.addr + (r * lanes.lanes + lane) * width;
    }
    const int64_t block = lane / walk.lanesPerBlock;
    return walk.RepeatBase(r) + block * walk.blkStride +
           (lane - block * walk.lanesPerBlock) * width;
  };
  for (int64_t r = 0; r < lanes.repeat; ++r) {
    const int64_t active = r + 1 == lanes.repeat ? last
                           : lanes.contiguous    ? lanes.lanes
                                                 : lanes.active;
    const int64_t firstBit = sameBits ? 0 : r * lanes.lanes;
    for (int64_t i = 0; i < active; ++i) {
      if (!lanes.prefix && !lanes.Works(i)) {
        continue;
      }
      const int64_t bit = firstBit + i;
      const bool first = (bits.addr[bit / 8] >> (bit % 8)) & 1;
      const uint8_t* from = first ? at(a, r, i) : (src1 != nullptr ? at(b, r, i) : constant);
      std::memmove(at(d, r, i), from, static_cast<size_t>(width));
    }
  }
}

}  // namespace aclsim
