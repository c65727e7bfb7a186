// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions: two sources, one source, one source and a scalar, conversions.
#include "ascendc/device_registers.h"
#include "device/dtype_sets.h"
#include "device/vec.h"
#include "device/vec_dtypes_950.h"

namespace aclsim {

namespace {

constexpr const char* kBinaryNames[] = {
#define ACLSIM_BINARY(Name, ...) #Name,
#include "ascendc/instructions.def"
};
constexpr const char* kUnaryNames[] = {
#define ACLSIM_UNARY(Name, ...) #Name,
#include "ascendc/instructions.def"
};
constexpr const char* kScalarNames[] = {
#define ACLSIM_SCALAR(Name, ...) #Name,
#define ACLSIM_SCALAR_VARIANT(Variant, Name, ...) #Name,
#include "ascendc/instructions.def"
};

// These conversions exist with these modes. Source: the Cast tables of the public Ascend C API documentation.
struct CastRule {
  DType from, to;
  uint8_t modes2201;
  uint8_t modes2002;  // Atlas inference series; 1001 has the same float<->half rows
};
constexpr CastRule kCastRules[] = {
    {DType::kHalf, DType::kFloat, kNoMode, kNoMode},
    {DType::kHalf, DType::kInt32, kFiveModes, kFiveModes},
    {DType::kHalf, DType::kInt16, kFiveModes, kFiveModes},
    {DType::kHalf, DType::kInt8, kFiveModes | kNoMode, kFiveModes | kNoMode},
    {DType::kHalf, DType::kUint8, kFiveModes | kNoMode, kFiveModes | kNoMode},
    {DType::kBf16, DType::kFloat, kNoMode, 0},
    {DType::kBf16, DType::kInt32, kFiveModes, 0},
    {DType::kFloat, DType::kHalf, kFiveModes | kNoMode | kOddMode, kNoMode | kOddMode},
    {DType::kFloat, DType::kBf16, kFiveModes, 0},
    {DType::kFloat, DType::kInt16, kFiveModes, 0},
    {DType::kFloat, DType::kInt32, kFiveModes, kFiveModes},
    {DType::kFloat, DType::kInt64, kFiveModes, 0},
    {DType::kFloat, DType::kFloat, kFiveModes, 0},
    {DType::kInt8, DType::kHalf, kNoMode, kNoMode},
    {DType::kUint8, DType::kHalf, kNoMode, kNoMode},
    {DType::kInt16, DType::kHalf, kFiveModes | kNoMode, kFiveModes | kNoMode},
    {DType::kInt16, DType::kFloat, kNoMode, 0},
    {DType::kInt32, DType::kFloat, kFiveModes | kNoMode, kNoMode},
    {DType::kInt32, DType::kHalf, kFiveModes | kNoMode | kOddMode,
     kFiveModes | kNoMode | kOddMode},  // none plays a part
    {DType::kInt32, DType::kInt16, kNoMode, kNoMode},
    {DType::kInt32, DType::kInt64, kNoMode, 0},
    {DType::kInt64, DType::kInt32, kNoMode, 0},
    {DType::kInt64, DType::kFloat, kFiveModes, 0},
};

constexpr const char* kRoundNames[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                       "CAST_ROUND", "CAST_TRUNC", "CAST_ODD",   "CAST_HYBRID",
                                       "CAST_EVEN",  "CAST_ZERO"};

const char* NameOf(Round round) {
  const auto index = static_cast<size_t>(round);
  return index < std::size(kRoundNames) ? kRoundNames[index] : "no mode";
}

void CheckCast(const Core& core, DType from, DType to, Round round) {
  uint8_t modes = Is950(core) ? CastModes950(from, to) : 0;
  for (const CastRule& rule : kCastRules) {
    if (!Is950(core) && rule.from == from && rule.to == to) {
      modes = core.soc.bf16 ? rule.modes2201 : rule.modes2002;
    }
  }
  if ((modes & Bit(round)) != 0) [[likely]] {
    return;
  }
  std::string legal;
  for (uint8_t i = 0; i < std::size(kRoundNames); ++i) {
    if ((modes >> i) & 1) {
      legal += std::string(legal.empty() ? "" : ", ") + kRoundNames[i];
    }
  }
  KernelFault fault{
      "cast-unsupported",
      Format("%s to %s with %s on %s; legal modes: %s", NameOf(from), NameOf(to), NameOf(round),
             core.soc.name.c_str(),
             legal.empty() ? "none, the pair does not exist" : legal.c_str()),
      "Hardware writes zeros or garbage without an error. Use a legal mode, or go through a "
      "third type.",
      CaptureStack(),
      {},
      ""};
  if (modes == 0 || Lanes().cast[static_cast<size_t>(from)][static_cast<size_t>(to)] == nullptr) {
    throw fault;
  }
  SkipFault(std::move(fault), "done all the same");
}

// The documented order of the steps: they keep the product of large values finite.
void Dequantise(void* dst, const void* src, float scale, size_t n) {
  constexpr float kDown = 1.0f / (1 << 17);
  constexpr float kUp = 1 << 17;
  auto* to = static_cast<uint16_t*>(dst);
  const auto* from = static_cast<const int32_t*>(src);
  for (size_t i = 0; i < n; ++i) {
    to[i] = FloatToHalf(static_cast<float>(from[i]) * kDown * scale * kUp);
  }
}

// Lines that a host's memory delivers while it computes one of floats.
constexpr size_t kBesideSeries = 2;
constexpr size_t kBesideDivision = 1;

bool IsMixed(const Ub& dst, const Ub& src) {
  return dst.dtype == DType::kFloat && src.dtype == DType::kHalf;
}

// The bitwise unit knows 16-bit lanes only, but on Ascend 950. The count forms accept 32-bit tensors all the same and count 16-bit lanes, as the
// API's documentation says of them.
Ub As16Bit(const Core& core, const Ub& operand, const VecCtl& ctl) {
  if (Is950(core) || ctl.mode != VecCtl::kCount ||
      (operand.dtype != DType::kInt32 && operand.dtype != DType::kUint32)) {
    return operand;
  }
  return {operand.addr, operand.buf, DType::kUint16, operand.generation};
}

// `a` and `b` into `d`; b may be null.
void IssueLanes(Core& core, const LaneSet& lanes, const OperandWalk& d, const OperandWalk& a,
                const OperandWalk* b, bool readsDst, const LaneCall& call) {
  if (lanes.contiguous && d.width == a.width && core.MayJoinStrips()) {
    core.CountInstruction();
    core.strips.Add(call, d.ub.addr, a.ub.addr, b != nullptr ? b->ub.addr : nullptr,
                    static_cast<size_t>(d.width), static_cast<size_t>(lanes.total * d.width));
    return;
  }
  const OperandWalk old = Read(d);
  IssueVector(core, lanes, {&d, &a, b, readsDst ? &old : nullptr},
              [=, &core, second = b != nullptr ? *b : OperandWalk{}, two = b != nullptr] {
                RunLanes(lanes, d, &a, two ? &second : nullptr, readsDst,
                         [&](uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n) {
                           call.Run(core.readAhead, to, x, y, static_cast<size_t>(d.width), n);
                         });
              });
}

bool ReadsDst(Op2 op) {
  return op == Op2::kMulAddDst || op == Op2::kFusedMulAdd || op == Op2::kMulAddRelu;
}

// Does the same for types that Ascend 950 has besides.
void IssueFurther(Core& core, const LaneSet& lanes, const OperandWalk& d, const OperandWalk& a,
                  const OperandWalk* b, bool readsDst, LanesOf950 body) {
  const OperandWalk old = Read(d);
  IssueVector(
      core, lanes, {&d, &a, b, readsDst ? &old : nullptr},
      [=, second = b != nullptr ? *b : OperandWalk{}, two = b != nullptr, body = std::move(body)] {
        RunLanes(
            lanes, d, &a, two ? &second : nullptr, readsDst,
            [&](uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n) { body(to, x, y, n); });
      });
}

// IssueLogic is And or Or: a bit that one operand decides alone, by a 0 or by a 1, is defined whatever the other one has.
void IssueLogic(Core& core, bool conjunction, const LaneSet& lanes, const OperandWalk& d,
                const OperandWalk& a, const OperandWalk& b, const LaneCall& call) {
  const auto undefined = [=, base = core.ub](uint8_t* image) {
    const auto on = [&](OperandWalk walk) {
      walk.ub.addr = image + (walk.ub.addr - base);
      return walk;
    };
    const LaneSet walked = Repeated(lanes);
    alignas(64) std::array<std::array<uint8_t, kRepeatBytes>, 5> temp;
    for (int64_t r = 0; r < walked.repeat; ++r) {
      const int64_t active = walked.ActiveIn(r);
      const uint8_t* const x = GatherRepeat(a, r, active, temp[0].data());
      const uint8_t* const y = GatherRepeat(b, r, active, temp[1].data());
      const uint8_t* const xLacks = GatherRepeat(on(a), r, active, temp[2].data());
      const uint8_t* const yLacks = GatherRepeat(on(b), r, active, temp[3].data());
      for (int64_t i = 0; i < active * d.width; ++i) {
        const uint8_t xOpen = conjunction ? x[i] : static_cast<uint8_t>(~x[i]);
        const uint8_t yOpen = conjunction ? y[i] : static_cast<uint8_t>(~y[i]);
        temp[4][static_cast<size_t>(i)] = static_cast<uint8_t>(
            (xLacks[i] & yLacks[i]) | (xLacks[i] & yOpen) | (xOpen & yLacks[i]));
      }
      ScatterRepeat(on(d), walked, r, temp[4].data());
    }
  };
  core.Issue(
      Pipe::kVector,
      [&](Record& record) {
        record.flow = Flow::kMove;
        record.repeat = static_cast<int32_t>(lanes.repeat);
        record.dtype = d.ub.dtype;
        for (const OperandWalk* walk : {&d, &a, &b}) {
          record.Add(AccessOf(core, *walk, lanes));
        }
        record.move = undefined;
      },
      [=, &core] {
        RunLanes(lanes, d, &a, &b, false,
                 [&](uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n) {
                   call.Run(core.readAhead, to, x, y, static_cast<size_t>(d.width), n);
                 });
      });
}

}  // namespace

namespace {

LaneTable::Binary BinaryLanes(const Core& core, Op2 op, DType dtype) {
  if (dtype == DType::kHalf && core.soc.npuArch == 3510) {
    const auto& wide = Lanes().wideProduct;
    switch (op) {
      case Op2::kMulAddDst:
        return wide.mulAddDst;
      case Op2::kFusedMulAdd:
        return wide.fusedMulAdd;
      case Op2::kMulAddRelu:
        return wide.mulAddRelu;
      default:
        break;
    }
  }
  return Lanes().binary[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

// Returns whether the second source may be what an earlier repeat has written, as the page of overlaps says of these.
bool Accumulates(Op2 op, DType dtype) {
  const bool known = dtype == DType::kHalf || dtype == DType::kFloat || dtype == DType::kInt32;
  switch (op) {
    case Op2::kAdd:
    case Op2::kSub:
    case Op2::kMul:
    case Op2::kMax:
    case Op2::kMin:
    case Op2::kAddRelu:
    case Op2::kSubRelu:
      return known;
    default:
      return false;
  }
}

LaneTable::Scalar ScalarLanes(const Core& core, OpScalar op, DType dtype) {
  return op == OpScalar::kAxpy && dtype == DType::kHalf && core.soc.npuArch == 3510
             ? Lanes().wideProduct.axpy
             : Lanes().scalar[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}

}  // namespace

void VecBinary(Op2 op, const Ub& dstIn, const Ub& src0In, const Ub& src1In, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kBinaryNames[static_cast<size_t>(op)];
  const bool logic = op == Op2::kAnd || op == Op2::kOr;
  const Ub dst = logic ? As16Bit(core, dstIn, ctl) : dstIn;
  const Ub src0 = logic ? As16Bit(core, src0In, ctl) : src0In;
  const Ub src1 = logic ? As16Bit(core, src1In, ctl) : src1In;
  const bool mixed = op == Op2::kMulAddDst && IsMixed(dst, src0);
  const auto body = mixed ? Lanes().mulAddDstHalf : BinaryLanes(core, op, dst.dtype);
  LanesOf950 further;
  if (Is950(core)) {
    RequireDType950(core, dst.dtype, ctl);
    further = body == nullptr ? BinaryOf950(op, dst.dtype) : nullptr;
  }
  const bool exists = body != nullptr || further != nullptr;
  if (!exists || (src0.dtype != dst.dtype && !mixed)) {
    UnsupportedDType(core, core.instruction, exists ? src0.dtype : dst.dtype);
  }
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a, b] =
      WalkBinary(core, lanes, dst, src0, src1, ctl, mixed, Accumulates(op, dst.dtype));
  if (further != nullptr) {
    IssueFurther(core, lanes, d, a, &b, ReadsDst(op), std::move(further));
    return;
  }
  if (logic && core.Observed()) {
    IssueLogic(core, op == Op2::kAnd, lanes, d, a, b, {.binary = body});
    return;
  }
  IssueLanes(core, lanes, d, a, &b, ReadsDst(op),
             {.binary = body, .readAhead = op == Op2::kDiv ? kBesideDivision : 0});
}
ACLSIM_SKIPS_FAULTS()

void VecUnary(Op1 op, const Ub& dstIn, const Ub& srcIn, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kUnaryNames[static_cast<size_t>(op)];
  const Ub dst = op == Op1::kNot ? As16Bit(core, dstIn, ctl) : dstIn;
  const Ub src = op == Op1::kNot ? As16Bit(core, srcIn, ctl) : srcIn;
  const auto body = Lanes().unary[static_cast<size_t>(op)][static_cast<size_t>(dst.dtype)];
  LanesOf950 further;
  if (Is950(core)) {
    RequireDType950(core, dst.dtype, ctl);
    further = body == nullptr ? UnaryOf950(op, dst.dtype) : nullptr;
  }
  if (body == nullptr && further == nullptr) {
    UnsupportedDType(core, core.instruction, dst.dtype);
  }
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a] = WalkUnary(core, lanes, dst, src, ctl);
  if (further != nullptr) {
    IssueFurther(core, lanes, d, a, nullptr, false, std::move(further));
    return;
  }
  const bool series = op == Op1::kExp || op == Op1::kLn;
  IssueLanes(core, lanes, d, a, nullptr, false,
             {.unary = body, .readAhead = series ? kBesideSeries : 0});
}
ACLSIM_SKIPS_FAULTS()

void VecScalar(OpScalar op, const Ub& dst, const Ub& src, ScalarValue scalar,
               const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kScalarNames[static_cast<size_t>(op)];
  const bool mixed = op == OpScalar::kAxpy && IsMixed(dst, src);
  const auto body = mixed ? Lanes().axpyHalf : ScalarLanes(core, op, dst.dtype);
  LanesOf950 further;
  const auto bits = static_cast<int64_t>(WidthOf(dst.dtype) * 8);
  const bool shift =
      op == OpScalar::kShiftLeft || op == OpScalar::kShiftRight || op == OpScalar::kShiftRightRound;
  if (Is950(core)) {
    RequireDType950(core, dst.dtype, ctl);
    const bool wide = shift && scalar.i > bits;  // has a result here
    further = body == nullptr || wide ? ScalarOf950(op, dst.dtype, scalar) : nullptr;
  }
  const bool exists = body != nullptr || further != nullptr;
  if (!exists || (src.dtype != dst.dtype && !mixed)) {
    UnsupportedDType(core, core.instruction, exists ? src.dtype : dst.dtype);
  }
  if (shift && (scalar.i < 0 || (scalar.i > bits && !Is950(core)))) {
    ThrowFault("shift-range",
               Format("shift by %lld of %s; legal are 0..%zu", static_cast<long long>(scalar.i),
                      NameOf(dst.dtype), WidthOf(dst.dtype) * 8),
               "Undefined on hardware. Shift by 0 .. the type's bits.");
  }
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a] = WalkUnary(core, lanes, dst, src, ctl, mixed);
  if (further != nullptr) {
    IssueFurther(core, lanes, d, a, nullptr, op == OpScalar::kAxpy, std::move(further));
    return;
  }
  IssueLanes(core, lanes, d, a, nullptr, op == OpScalar::kAxpy,
             {.withScalar = body, .scalar = scalar});
}
ACLSIM_SKIPS_FAULTS()

void VecCast(const Ub& dst, const Ub& src, Round round, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Cast";
  CheckCast(core, src.dtype, dst.dtype, round);
  const auto body = Lanes().cast[static_cast<size_t>(src.dtype)][static_cast<size_t>(dst.dtype)];
  const bool dequant = src.dtype == DType::kInt32 && dst.dtype == DType::kHalf;
  const float scale = HalfToFloat(core.registers.deqScale);
  const DType wider = WidthOf(dst.dtype) > WidthOf(src.dtype) ? dst.dtype : src.dtype;
  LaneSet lanes = ResolveLanes(core, ctl, wider);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a] =
      WalkUnary(core, lanes, dst, src, ctl, WidthOf(dst.dtype) > WidthOf(src.dtype));
  if (body == nullptr && !dequant) {
    IssueFurther(core, lanes, d, a, nullptr, false, CastOf950(src.dtype, dst.dtype, round));
    return;
  }
  IssueVector(core, lanes, {&d, &a}, [=] {
    RunLanes(lanes, d, &a, nullptr, false, [=](void* to, const void* from, const void*, size_t n) {
      if (dequant) {
        Dequantise(to, from, scale, n);
        return;
      }
      body(to, from, round, n);
    });
  });
}
ACLSIM_SKIPS_FAULTS()

namespace {

constexpr const char* kBinaryCastNames[] = {"AddReluCast", "SubReluCast", "MulCast", "AddDeqRelu"};
constexpr Op2 kBinaryCastSteps[] = {Op2::kAddRelu, Op2::kSubRelu, Op2::kMul, Op2::kAdd};

bool Converts(BinaryCast op, DType from, DType to) {
  switch (op) {
    case BinaryCast::kMul:
      return from == DType::kHalf && (to == DType::kInt8 || to == DType::kUint8);
    case BinaryCast::kAddDeqRelu:
      return from == DType::kInt32 && to == DType::kHalf;
    default:
      return (to == DType::kInt8 && (from == DType::kHalf || from == DType::kInt16)) ||
             (to == DType::kHalf && from == DType::kFloat);
  }
}

// The second step, from the type of the sources to that of the destination.
void ConvertResult(BinaryCast op, DType from, DType to, const void* src, void* dst, float scale,
                   size_t n) {
  if (from == DType::kInt32) {
    Dequantise(dst, src, scale, n);
    auto* halves = static_cast<uint16_t*>(dst);
    for (size_t i = 0; i < n; ++i) {
      halves[i] = (halves[i] & 0x8000u) != 0 ? uint16_t{0} : halves[i];
    }
    return;
  }
  if (from == DType::kInt16) {
    const auto* values = static_cast<const int16_t*>(src);
    for (size_t i = 0; i < n; ++i) {
      static_cast<int8_t*>(dst)[i] = static_cast<int8_t>(std::clamp<int>(values[i], -128, 127));
    }
    return;
  }
  Lanes().cast[static_cast<size_t>(from)][static_cast<size_t>(to)](dst, src, Round::kNone, n);
  if (from == DType::kFloat && op != BinaryCast::kMul) {
    // As documented: a NaN becomes 0, which Cast alone keeps.
    auto* halves = static_cast<uint16_t*>(dst);
    for (size_t i = 0; i < n; ++i) {
      halves[i] = (halves[i] & 0x7FFFu) > 0x7C00u ? uint16_t{0} : halves[i];
    }
  }
}

}  // namespace

void VecBinaryCast(BinaryCast op, const Ub& dst, const Ub& src0, const Ub& src1,
                   const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = kBinaryCastNames[static_cast<size_t>(op)];
  const DType from = src0.dtype;
  const DType to = dst.dtype;
  if (!Converts(op, from, to)) {
    UnsupportedDType(core, core.instruction, Converts(op, from, DType::kHalf) ? to : from);
  }
  const auto step = Lanes().binary[static_cast<size_t>(kBinaryCastSteps[static_cast<size_t>(op)])]
                                  [static_cast<size_t>(from)];
  LaneSet lanes = ResolveLanes(core, ctl, from);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a, b] = WalkBinary(core, lanes, dst, src0, src1, ctl);
  if (op == BinaryCast::kAddDeqRelu) {
    if (!core.registers.deqScaleSet) {
      PassFault("undefined-read", "AddDeqRelu multiplies by a scale that no SetDeqScale has set",
                "Hardware takes what the register holds from earlier work. Next: SetDeqScale "
                "before it.",
                "by a scale of 1");
    }
    // The sums of as many lanes as fit, piece by piece.
    const int64_t most = lanes.contiguous ? lanes.total : lanes.repeat * lanes.lanes;
    SpoilReserved(core, std::min<uint64_t>(8192, static_cast<uint64_t>(most) * sizeof(int32_t)));
  }
  const float scale = HalfToFloat(core.registers.deqScale);
  const auto width = static_cast<size_t>(a.width);
  IssueVector(core, lanes, {&d, &a, &b}, [=] {
    RunLanes(lanes, d, &a, &b, false, [=](void* result, const void* x, const void* y, size_t n) {
      alignas(64) uint8_t wide[kMaxLanes * sizeof(int32_t)];
      for (size_t at = 0; at < n; at += kMaxLanes) {
        const size_t count = std::min<size_t>(kMaxLanes, n - at);
        step(wide, static_cast<const uint8_t*>(x) + at * width,
             static_cast<const uint8_t*>(y) + at * width, count);
        ConvertResult(op, from, to, wide, static_cast<uint8_t*>(result) + at * WidthOf(to), scale,
                      count);
      }
    });
  });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
