// SPDX-License-Identifier: Apache-2.0
// Source of the types: the pages of the public Ascend C API, one per instruction.
#include "device/vec_dtypes_950.h"
#include "device/dtype_sets.h"

#include <array>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace aclsim {

namespace {

using enum DType;

// In all forms, and those that the count form has besides.
struct Types {
  std::string_view instruction;
  uint32_t all;
  uint32_t byCount;
};
constexpr Types kTypes[] = {
#define ACLSIM_BINARY(Name, dtypes, all, byCount, ...) {#Name, all, byCount},
#define ACLSIM_UNARY ACLSIM_BINARY
#define ACLSIM_SCALAR ACLSIM_BINARY
#define ACLSIM_DTYPES_950(Name, all, byCount) {#Name, all, byCount},
#include "ascendc/instructions.def"
};

using Binary = LaneTable::Binary;

Binary Lanes2(RegOp2 op, DType dtype) {
  return Lanes().regBinary[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
}
LanesOf950 Two(RegOp2 op, DType dtype) {
  const Binary body = Lanes2(op, dtype);
  if (body == nullptr) {
    return nullptr;
  }
  return [body](uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n) { body(to, x, y, n); };
}
LanesOf950 One(RegOp1 op, DType dtype) {
  const auto body = Lanes().regUnary[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
  if (body == nullptr) {
    return nullptr;
  }
  return [body](uint8_t* to, const uint8_t* x, const uint8_t*, size_t n) { body(to, x, n); };
}

// One operand has the same element in all lanes.
struct Constant {
  static constexpr size_t kBytes = 256;
  alignas(64) std::array<uint8_t, kBytes> bytes;
  size_t width;

  Constant(DType dtype, ScalarValue scalar) : bytes(), width(WidthOf(dtype)) {
    uint64_t bits = static_cast<uint64_t>(scalar.i);
    const auto real = static_cast<float>(scalar.f);
    if (dtype == kFloat) {
      std::memcpy(&bits, &real, sizeof(real));
    } else if (dtype == kHalf || dtype == kBf16) {
      bits = dtype == kHalf ? FloatToHalf(real) : FloatToBf16(real);
    }
    for (size_t i = 0; i < kBytes; i += width) {
      std::memcpy(bytes.data() + i, &bits, width);
    }
  }
  // body(to, x, constant, n) by pieces.
  template <typename Body>
  void With(uint8_t* to, const uint8_t* x, size_t n, Body&& body) const {
    const size_t most = kBytes / width;
    for (size_t at = 0; at < n; at += most) {
      body(to + at * width, x + at * width, bytes.data(), std::min(most, n - at));
    }
  }
};

LanesOf950 WithScalar(RegOp2 op, DType dtype, ScalarValue scalar) {
  const Binary body = Lanes2(op, dtype);
  if (body == nullptr) {
    return nullptr;
  }
  return [body, constant = Constant(dtype, scalar)](uint8_t* to, const uint8_t* x, const uint8_t*,
                                                    size_t n) { constant.With(to, x, n, body); };
}

// No less than 0 in the end; unsigned numbers never are.
LanesOf950 ThenRelu(LanesOf950 first, DType dtype) {
  const LanesOf950 relu = WithScalar(RegOp2::kMax, dtype, {});
  return [=](uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n) {
    first(to, x, y, n);
    relu(to, to, nullptr, n);
  };
}

struct Conversion {
  DType from, to;
  uint8_t modes;
};
constexpr Conversion kCasts[] = {
    {kInt8, kInt16, kNoMode},
    {kInt8, kHalf, kNoMode},
    {kInt8, kInt32, kNoMode},
    {kUint8, kUint16, kNoMode},
    {kUint8, kHalf, kNoMode},
    {kUint8, kUint32, kNoMode},
    {kInt16, kUint8, kNoMode},
    {kInt16, kHalf, kFiveModes | kNoMode},
    {kInt16, kInt32, kNoMode},
    {kInt16, kUint32, kNoMode},
    {kInt16, kFloat, kNoMode},
    {kUint16, kUint8, kNoMode},
    {kUint16, kUint32, kNoMode},
    {kHalf, kInt8, kFiveModes | kNoMode},
    {kHalf, kUint8, kFiveModes | kNoMode},
    {kHalf, kInt16, kFiveModes},
    {kHalf, kBf16, kFiveModes},
    {kHalf, kInt32, kFiveModes},
    {kHalf, kFloat, kNoMode},
    {kBf16, kHalf, kFiveModes},
    {kBf16, kInt32, kFiveModes},
    {kBf16, kFloat, kNoMode},
    {kInt32, kUint8, kNoMode},
    {kInt32, kInt16, kNoMode},
    {kInt32, kUint16, kNoMode},
    {kInt32, kHalf, kFiveModes | kNoMode | kOddMode},  // none plays a part
    {kInt32, kFloat, kFiveModes | kNoMode},
    {kInt32, kInt64, kNoMode},
    {kUint32, kUint8, kNoMode},
    {kUint32, kInt16, kNoMode},
    {kUint32, kUint16, kNoMode},
    {kFloat, kInt16, kFiveModes},
    {kFloat, kHalf, kFiveModes | kNoMode | kOddMode},
    {kFloat, kBf16, kFiveModes},
    {kFloat, kInt32, kFiveModes},
    {kFloat, kFloat, kFiveModes},
    {kFloat, kInt64, kFiveModes},
    {kInt64, kInt32, kNoMode},
    {kInt64, kFloat, kFiveModes},
    {DType::kFloat, DType::kE4m3, Bit(Round::kRint)},
    {DType::kFloat, DType::kE5m2, Bit(Round::kRint)},
    {DType::kFloat, DType::kHif8, Bit(Round::kRound)},
    {DType::kHalf, DType::kHif8, Bit(Round::kRound)},
    {DType::kE4m3, DType::kFloat, kNoMode},
    {DType::kE5m2, DType::kFloat, kNoMode},
    {DType::kHif8, DType::kFloat, kNoMode},
    {DType::kHif8, DType::kHalf, kNoMode},
};

}  // namespace

void RequireDType950(Core& core, DType dtype, const VecCtl& ctl) {
  const auto bit = 1u << static_cast<uint32_t>(dtype);
  for (const Types& types : kTypes) {
    if (types.instruction != core.instruction) {
      continue;
    }
    if ((types.all & bit) != 0 || ((types.byCount & bit) != 0 && ctl.mode == VecCtl::kCount)) {
      return;
    }
    if ((types.byCount & bit) != 0) {
      ThrowFault("dtype-unsupported",
                 Format("%s of %s has no form with a mask on %s", core.instruction, NameOf(dtype),
                        core.soc.name.c_str()),
                 "The device compiler refuses it. Use the form with a count.");
    }
    UnsupportedDType(core, core.instruction, dtype);
  }
}

LanesOf950 BinaryOf950(Op2 op, DType dtype) {
  switch (op) {
    case Op2::kAdd:
      return Two(RegOp2::kAdd, dtype);
    case Op2::kSub:
      return Two(RegOp2::kSub, dtype);
    case Op2::kMul:
      return Two(RegOp2::kMul, dtype);
    case Op2::kDiv:
      return Two(RegOp2::kDiv, dtype);
    case Op2::kMax:
      return Two(RegOp2::kMax, dtype);
    case Op2::kMin:
      return Two(RegOp2::kMin, dtype);
    case Op2::kAnd:
      return Two(RegOp2::kAnd, dtype);
    case Op2::kOr:
      return Two(RegOp2::kOr, dtype);
    case Op2::kAddRelu:
      return ThenRelu(Two(RegOp2::kAdd, dtype), dtype);
    case Op2::kSubRelu:
      return ThenRelu(Two(RegOp2::kSub, dtype), dtype);
    case Op2::kMulAddDst:
      return Two(RegOp2::kMulAddDst, dtype);
    case Op2::kFusedMulAdd:
    case Op2::kMulAddRelu: {
      LanesOf950 fused = Two(RegOp2::kMulDstAdd, dtype);
      if (fused == nullptr) {
        const LanesOf950 mul = Two(RegOp2::kMul, dtype), add = Two(RegOp2::kAdd, dtype);
        fused = [=](uint8_t* to, const uint8_t* x, const uint8_t* y, size_t n) {
          mul(to, to, x, n);
          add(to, to, y, n);
        };
      }
      return op == Op2::kFusedMulAdd ? fused : ThenRelu(fused, dtype);
    }
    default:
      return nullptr;
  }
}

LanesOf950 UnaryOf950(Op1 op, DType dtype) {
  switch (op) {
    case Op1::kAbs:
      return One(RegOp1::kAbs, dtype);
    case Op1::kRelu:
      return One(RegOp1::kRelu, dtype);
    case Op1::kNot: {
      constexpr DType kBits[] = {kUint8, kUint16, kUint32, kUint64};
      const size_t width = WidthOf(dtype);
      return One(RegOp1::kNot, kBits[width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3]);
    }
    case Op1::kReciprocal: {
      const Binary divide = Lanes2(RegOp2::kDiv, dtype);
      ScalarValue one;
      one.i = 1;
      return [divide, ones = Constant(dtype, one)](uint8_t* to, const uint8_t* x, const uint8_t*,
                                                   size_t n) {
        ones.With(to, x, n,
                  [&](uint8_t* quotients, const uint8_t* by, const uint8_t* all, size_t lanes) {
                    divide(quotients, all, by, lanes);
                  });
      };
    }
    default:
      return nullptr;
  }
}

LanesOf950 ScalarOf950(OpScalar op, DType dtype, ScalarValue scalar) {
  switch (op) {
    case OpScalar::kAdds:
      return WithScalar(RegOp2::kAdd, dtype, scalar);
    case OpScalar::kMuls:
      return WithScalar(RegOp2::kMul, dtype, scalar);
    case OpScalar::kMaxs:
      return WithScalar(RegOp2::kMax, dtype, scalar);
    case OpScalar::kMins:
      return WithScalar(RegOp2::kMin, dtype, scalar);
    case OpScalar::kShiftLeft:
      return WithScalar(RegOp2::kShiftLeft, dtype, scalar);
    case OpScalar::kShiftRight:
    case OpScalar::kShiftRightRound:
      return WithScalar(RegOp2::kShiftRight, dtype, scalar);
    case OpScalar::kAxpy:
      return WithScalar(RegOp2::kMulAddDst, dtype, scalar);
    default:
      return nullptr;
  }
}

uint8_t CastModes950(DType from, DType to) {
  for (const Conversion& cast : kCasts) {
    if (cast.from == from && cast.to == to) {
      return cast.modes;
    }
  }
  return 0;
}

LanesOf950 CastOf950(DType from, DType to, Round round) {
  if (Lanes().cast[static_cast<size_t>(from)][static_cast<size_t>(to)] != nullptr) {
    return nullptr;
  }
  return [=](uint8_t* dst, const uint8_t* src, const uint8_t*, size_t n) {
    constexpr size_t kMost = 64;  // a register's worth of every type
    for (size_t at = 0; at < n; at += kMost) {
      ConvertLanes(to, from, dst + at * WidthOf(to), src + at * WidthOf(from), round, true,
                   std::min(kMost, n - at));
    }
  };
}

namespace {

void Issue(Core& core, const LaneSet& lanes, const OperandWalk& d, const OperandWalk& a,
           const OperandWalk* b, LanesOf950 body) {
  IssueVector(core, lanes, {&d, &a, b},
              [=, second = b != nullptr ? *b : OperandWalk{}, two = b != nullptr] {
                RunLanes(lanes, d, &a, two ? &second : nullptr, false, body);
              });
}

}  // namespace

void VecNeg(const Ub& dst, const Ub& src, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Neg";
  RequireDType950(core, dst.dtype, ctl);
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a] = WalkUnary(core, lanes, dst, src, ctl);
  Issue(core, lanes, d, a, nullptr, One(RegOp1::kNeg, dst.dtype));
}
ACLSIM_SKIPS_FAULTS()

void VecPrelu(const Ub& dst, const Ub& src0, const Ub& src1, const VecCtl& ctl) try {
  Core& core = Core::Current();
  core.instruction = "Prelu";
  RequireDType950(core, dst.dtype, ctl);
  LaneSet lanes = ResolveLanes(core, ctl, dst.dtype);
  if (IsIdle(core, lanes, dst)) {
    return;
  }
  const auto [d, a, b] = WalkBinary(core, lanes, dst, src0, src1, ctl);
  Issue(core, lanes, d, a, &b, Two(RegOp2::kPrelu, dst.dtype));
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
