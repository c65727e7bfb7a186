// SPDX-License-Identifier: Apache-2.0
// Compare and Select: lanes against lanes or a scalar, one mask bit per element.
#include "device/vec.h"

namespace aclsim {

namespace {

constexpr const char* kModes[] = {"LT", "GT", "EQ", "LE", "GE", "NE"};

// The bits of a scalar operand in the element type of its instruction.
void StoreScalar(DType dtype, ScalarValue scalar, uint8_t* bytes) {
  if (IsFloat(dtype)) {
    StoreLane(dtype, bytes, static_cast<float>(scalar.f));
  } else {
    const auto value = static_cast<int32_t>(scalar.i);
    std::memcpy(bytes, &value, sizeof(value));
  }
}

// Whole repeats: the mask takes no part, and the count form drops what does not fill one.
LaneSet ComparedLanes(Core& core, DType dtype, VecCtl* ctl) {
  const int64_t perRepeat = kRepeatBytes / static_cast<int64_t>(WidthOf(dtype));
  if (ctl->mode == VecCtl::kCount) {
    const uint64_t dropped = ctl->mask[0] % static_cast<uint64_t>(perRepeat);
    if (dropped != 0) {
      HintAt(
          core, "compare-remainder",
          Format("compares whole repeats of %lld lanes only: of a count of %llu the last %llu "
                 "get no bits",
                 static_cast<long long>(perRepeat), static_cast<unsigned long long>(ctl->mask[0]),
                 static_cast<unsigned long long>(dropped))
              .c_str(),
          "Their bits stay what they were. Round the count up to 256 bytes of lanes, which the "
          "documents ask for, and give the buffers room for them.");
    }
    ctl->mask[0] -= dropped;
    return ResolveLanes(core, *ctl, dtype);
  }
  LaneSet lanes;
  lanes.repeat = ctl->repeat;
  lanes.lanes = lanes.active = lanes.lastActive = perRepeat;
  lanes.bits[0] = lanes.bits[1] = ~0ull;
  return lanes;
}

}  // namespace

void VecCompare(Compare op, const Ub& dst, const Ub& src0, const Ub* src1, ScalarValue scalar,
                const VecCtl& ctlIn) try {
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
    RequireFloat(core, dtype);
  }
  const int64_t perRepeat = kRepeatBytes / static_cast<int64_t>(WidthOf(dtype));
  VecCtl ctl = ctlIn;
  const LaneSet lanes = ComparedLanes(core, dtype, &ctl);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk a = CheckedWalk(core, lanes, src0, "src0", ctl, 1, false);
  const OperandWalk b =
      src1 != nullptr ? CheckedWalk(core, lanes, *src1, "src1", ctl, 2, false) : a;
  const int64_t extent = lanes.repeat * perRepeat / 8;
  CheckOperand(core, dst, extent, "dst");
  const auto compare = Lanes().compare[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
  Element constant{};
  StoreScalar(dtype, scalar, constant.data());
  const bool scalarForm = src1 == nullptr;
  const size_t step = scalarForm ? 0 : 1;
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kBits;
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = dtype;
        record.Add(UbAccess(core, Use::kWrite, dst, extent));
        record.Add(AccessOf(core, a, lanes));
        if (!scalarForm) {
          record.Add(AccessOf(core, b, lanes));
        }
      },
      [=] {
        if (lanes.contiguous) {
          compare(dst.addr, a.ub.addr, scalarForm ? constant.data() : b.ub.addr, step,
                  static_cast<size_t>(lanes.repeat * perRepeat));
          return;
        }
        alignas(64) uint8_t temp0[kRepeatBytes];
        alignas(64) uint8_t temp1[kRepeatBytes];
        for (int64_t r = 0; r < lanes.repeat; ++r) {
          const uint8_t* x = GatherRepeat(a, r, perRepeat, temp0);
          const uint8_t* y = scalarForm ? constant.data() : GatherRepeat(b, r, perRepeat, temp1);
          // Through a buffer: dst may be the memory that the sources lie in.
          uint8_t bits[kMaxLanes / 8];
          compare(bits, x, y, step, static_cast<size_t>(perRepeat));
          std::memcpy(dst.addr + r * perRepeat / 8, bits, static_cast<size_t>(perRepeat / 8));
        }
      });
}
ACLSIM_SKIPS_FAULTS()

void VecSelect(const Ub& dst, const Ub& bits, const Ub& src0, const Ub* src1, ScalarValue scalar,
               bool sameBits, const VecCtl& ctl) try {
  // 32 times the scalar, or 32 times the mask's address.
  const uint64_t element = src1 == nullptr ? WidthOf(dst.dtype) : sizeof(uint32_t);
  SelectByBits(dst, bits, src0, src1, scalar, sameBits, ctl, sameBits ? 0 : 32 * element);
}
ACLSIM_SKIPS_FAULTS()

namespace {

// One call of Select, whose lanes may be those of UB or of an image of it that says which bytes are undefined.
struct SelectCall {
  // The real bits say which source a lane takes, also when the lanes of another image of UB move.
  const uint8_t* base;
  Ub bits;
  OperandWalk dst, src0, src1;
  LaneSet lanes;
  LaneSet walked;  // with one set of bits for all repeats the count form goes repeat by repeat, too
  bool scalarForm;
  bool sameBits;
  decltype(Lanes().select2) select;
  Element constant;

  OperandWalk On(uint8_t* ub, OperandWalk walk) const {
    walk.ub.addr = ub + (walk.ub.addr - base);
    return walk;
  }
  // In an image of what is undefined, a lane is so too when its selector is.
  void Spread(const uint8_t* selector, uint8_t* result, int64_t firstBit, int64_t count) const {
    const auto width = static_cast<size_t>(dst.width);
    for (int64_t i = 0; selector != nullptr && i < count; ++i) {
      if ((selector[(firstBit + i) / 8] >> ((firstBit + i) % 8)) & 1) {
        std::memset(result + static_cast<size_t>(i) * width, 0xFF, width);
      }
    }
  }
  void operator()(uint8_t* ub) const {
    const OperandWalk to = On(ub, dst);
    const OperandWalk x0 = On(ub, src0);
    const OperandWalk y0 = On(ub, src1);
    const Element none{};
    const uint8_t* value = ub == base ? constant.data() : none.data();
    const uint8_t* selector = ub == base ? nullptr : ub + (bits.addr - base);
    const size_t step = scalarForm ? 0 : 1;
    if (lanes.contiguous && !sameBits) {
      select(to.ub.addr, bits.addr, x0.ub.addr, scalarForm ? value : y0.ub.addr, step,
             static_cast<size_t>(lanes.total));
      Spread(selector, to.ub.addr, 0, lanes.total);
      return;
    }
    alignas(64) uint8_t temp0[kRepeatBytes];
    alignas(64) uint8_t temp1[kRepeatBytes];
    alignas(64) uint8_t result[kRepeatBytes];
    for (int64_t r = 0; r < walked.repeat; ++r) {
      const int64_t active = walked.ActiveIn(r);
      const uint8_t* x = GatherRepeat(x0, r, active, temp0);
      const uint8_t* y = scalarForm ? value : GatherRepeat(y0, r, active, temp1);
      const int64_t firstBit = sameBits ? 0 : r * walked.lanes;
      select(result, bits.addr + firstBit / 8, x, y, step, static_cast<size_t>(active));
      Spread(selector, result, firstBit, active);
      ScatterRepeat(to, walked, r, result);
    }
  }
};

}  // namespace

void SelectByBits(const Ub& dst, const Ub& bits, const Ub& src0, const Ub* src1, ScalarValue scalar,
                  bool sameBits, const VecCtl& ctl, uint64_t reserved) {
  Core& core = Core::Current();
  core.instruction = "Select";
  RequireFloat(core, dst.dtype);
  if (core.soc.npuArch == 1001 && !sameBits) {
    PassFault("instruction-absent",
              Format("this Select mode does not exist on %s", core.soc.name.c_str()),
              "The device compiler refuses it. Use SELMODE::VSEL_CMPMASK_SPR.",
              "done all the same");
  }
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const OperandWalk d = MakeWalk(dst, "dst", ctl, 0, true);
  const OperandWalk a = MakeWalk(src0, "src0", ctl, 1, false);
  const OperandWalk b = src1 != nullptr ? MakeWalk(*src1, "src1", ctl, 2, false) : a;
  CheckLanes(core, d, lanes);
  CheckLanes(core, a, lanes);
  CheckOverlap(core, lanes, d, a, false);
  if (src1 != nullptr) {
    CheckLanes(core, b, lanes);
    CheckOverlap(core, lanes, d, b, false);
  }
  SelectCall call{core.ub,
                  bits,
                  d,
                  a,
                  b,
                  lanes,
                  Repeated(lanes),
                  src1 == nullptr,
                  sameBits,
                  WidthOf(dst.dtype) == 2 ? Lanes().select2 : Lanes().select4,
                  {}};
  const int64_t last = call.walked.lastActive;
  const int64_t usedBits = sameBits ? std::min(lanes.lanes, lanes.repeat > 1 ? lanes.lanes : last)
                                    : (lanes.repeat - 1) * lanes.lanes + last;
  CheckOperand(core, bits, (usedBits + 7) / 8, "selMask");
  SpoilReserved(core, reserved);
  StoreScalar(dst.dtype, scalar, call.constant.data());
  core.IssueMove(
      Pipe::kVector,
      [&](Record& record) {
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = dst.dtype;
        record.Add(AccessOf(core, d, lanes));
        record.Add(AccessOf(core, a, lanes));
        if (!call.scalarForm) {
          record.Add(AccessOf(core, b, lanes));
        }
        record.Add(UbAccess(core, Use::kRead, bits, (usedBits + 7) / 8));
      },
      call);
}

}  // namespace aclsim
