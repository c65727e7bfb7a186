// SPDX-License-Identifier: Apache-2.0
// Lanes of vector registers that no instruction on tensors has: further types, fused sums, bits. As host/level.h says.
#include "device/lanes_loops.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

template <typename C>
C Negative(C a) {
  if constexpr (kIsFloat<C>) {
    return -a;
  } else {
    return Sub(C(0), a);
  }
}
template <typename C>
C Distance(C a, C b) {
  if constexpr (kIsFloat<C>) {
    return __builtin_fabsf(a - b);
  } else {
    return a < b ? Sub(b, a) : Sub(a, b);
  }
}
// By zero: all ones.
template <typename C>
C Quotient(C a, C b) {
  if (b == 0) {
    return C(-1);
  }
  if constexpr (std::is_signed_v<C>) {
    if (b == C(-1)) {
      return Negative(a);
    }
  }
  return static_cast<C>(a / b);
}
// By the width and more: all bits go, or only the sign stays.
template <typename C>
constexpr C kBits = sizeof(C) * 8;
template <typename C>
C ShiftedLeft(C a, C by) {
  return by >= kBits<C> ? C(0) : static_cast<C>(static_cast<uint64_t>(a) << (by & (kBits<C> - 1)));
}
template <typename C>
C ShiftedRight(C a, C by) {
  return by >= kBits<C> ? (a < 0 ? C(-1) : C(0)) : static_cast<C>(a >> (by & (kBits<C> - 1)));
}

ACLSIM_LANES2(DivInts, Quotient(x, y))
ACLSIM_LANES2(Xor2, static_cast<C>(x ^ y))
ACLSIM_LANES2(ShiftLeft2, ShiftedLeft(x, y))
ACLSIM_LANES2(ShiftRight2, ShiftedRight(x, y))
ACLSIM_LANES2(AbsSub2, Distance(x, y))
// By the sign bit: +0 stays +0 whatever y is, and -0 is a product.
ACLSIM_LANES2(Prelu2, (BitsOf(x) >> 31) == 0 ? x : x * y)
ACLSIM_LANES1(AbsInts, x < 0 ? Negative(x) : x)
ACLSIM_LANES1(Neg1, Negative(x))
ACLSIM_LANES1(Rint1, __builtin_nearbyintf(x))
ACLSIM_LANES1(Floor1, __builtin_floorf(x))
ACLSIM_LANES1(Ceil1, __builtin_ceilf(x))
ACLSIM_LANES1(Round1, __builtin_roundf(x))
ACLSIM_LANES1(Trunc1, __builtin_truncf(x))

// The product is not rounded; half and bfloat16_t round from float.
template <typename T, bool mulDst>
void Fused2(void* dst, const void* a, const void* b, size_t n) {
  using L = Compute<T>;
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  ACLSIM_IVDEP
  for (size_t i = 0; i < n; ++i) {
    const float held = L::Load(d[i]), first = L::Load(x[i]), second = L::Load(y[i]);
    d[i] = L::Store(mulDst ? __builtin_fmaf(held, first, second)
                           : __builtin_fmaf(first, second, held));
  }
}

// The lanes of one dtype in a table.
struct LanesOf {
  LaneTable* table;
  DType dtype;
  LaneTable::Binary& operator()(RegOp2 op) const {
    return table->regBinary[static_cast<size_t>(op)][D(dtype)];
  }
  LaneTable::Unary& operator()(RegOp1 op) const {
    return table->regUnary[static_cast<size_t>(op)][D(dtype)];
  }
  LaneTable::CompareLanes& operator()(Compare op) const {
    return table->regCompare[static_cast<size_t>(op)][D(dtype)];
  }
};

template <typename T>
void Compares(const LanesOf& lanes) {
  lanes(Compare::kLt) = CompareBits<T, Compare::kLt>;
  lanes(Compare::kGt) = CompareBits<T, Compare::kGt>;
  lanes(Compare::kEq) = CompareBits<T, Compare::kEq>;
  lanes(Compare::kLe) = CompareBits<T, Compare::kLe>;
  lanes(Compare::kGe) = CompareBits<T, Compare::kGe>;
  lanes(Compare::kNe) = CompareBits<T, Compare::kNe>;
}
// Both integers and floats have these.
template <typename T>
void NumberLanes(const LanesOf& lanes) {
  lanes(RegOp2::kAdd) = Add2<T>;
  lanes(RegOp2::kSub) = Sub2<T>;
  lanes(RegOp2::kMul) = Mul2<T>;
  lanes(RegOp2::kMax) = Max2<T>;
  lanes(RegOp2::kMin) = Min2<T>;
  lanes(RegOp2::kAbsSub) = AbsSub2<T>;
}
template <typename T>
void IntLanes(const LanesOf& lanes) {
  NumberLanes<T>(lanes);
  Compares<T>(lanes);
  lanes(RegOp2::kDiv) = DivInts<T>;
  lanes(RegOp2::kAnd) = And2<T>;
  lanes(RegOp2::kOr) = Or2<T>;
  lanes(RegOp2::kXor) = Xor2<T>;
  lanes(RegOp2::kShiftLeft) = ShiftLeft2<T>;
  lanes(RegOp2::kShiftRight) = ShiftRight2<T>;
  lanes(RegOp2::kMulAddDst) = MulAddDst2<T>;
  lanes(RegOp1::kNot) = Not1<T>;
  if constexpr (std::is_signed_v<T>) {
    lanes(RegOp1::kAbs) = AbsInts<T>;
    lanes(RegOp1::kNeg) = Neg1<T>;
    lanes(RegOp1::kRelu) = Relu1<T>;
  }
}
template <typename T>
void FloatLanes(const LanesOf& lanes) {
  NumberLanes<T>(lanes);
  lanes(RegOp2::kMulAddDst) = Fused2<T, false>;
  lanes(RegOp2::kMulDstAdd) = Fused2<T, true>;
  lanes(RegOp2::kPrelu) = Prelu2<T>;
  lanes(RegOp1::kNeg) = Neg1<T>;
  lanes(RegOp1::kTruncateRint) = Rint1<T>;
  lanes(RegOp1::kTruncateFloor) = Floor1<T>;
  lanes(RegOp1::kTruncateCeil) = Ceil1<T>;
  lanes(RegOp1::kTruncateRound) = Round1<T>;
  lanes(RegOp1::kTruncateTrunc) = Trunc1<T>;
}

}  // namespace

void AddRegisters(LaneTable* t) {
  IntLanes<int8_t>({t, DType::kInt8});
  IntLanes<uint8_t>({t, DType::kUint8});
  IntLanes<int16_t>({t, DType::kInt16});
  IntLanes<uint16_t>({t, DType::kUint16});
  IntLanes<int32_t>({t, DType::kInt32});
  IntLanes<uint32_t>({t, DType::kUint32});
  IntLanes<int64_t>({t, DType::kInt64});
  IntLanes<uint64_t>({t, DType::kUint64});
  FloatLanes<float>({t, DType::kFloat});
  FloatLanes<half>({t, DType::kHalf});
  FloatLanes<bfloat16_t>({t, DType::kBf16});
  Compares<bfloat16_t>({t, DType::kBf16});
}

}  // namespace aclsim::ACLSIM_LEVEL
