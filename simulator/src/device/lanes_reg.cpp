// SPDX-License-Identifier: Apache-2.0
// Lanes of vector registers that no instruction on tensors has: further types, fused sums, bits. As host_level.h says.
#include "device/host_level.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

template <typename T>
struct Lane {
  using Compute = T;
  static T Load(T v) { return v; }
  static T Store(T v) { return v; }
};
template <>
struct Lane<half> {
  using Compute = float;
  static float Load(half v) { return HalfToFloat(v.bits); }
  static half Store(float v) {
    half h;
    h.bits = FloatToHalf(v);
    return h;
  }
};
template <>
struct Lane<bfloat16_t> {
  using Compute = float;
  static float Load(bfloat16_t v) { return Bf16ToFloat(v.bits); }
  static bfloat16_t Store(float v) {
    bfloat16_t b;
    b.bits = FloatToBf16(v);
    return b;
  }
};

template <typename T>
constexpr bool kSigned = T(-1) < T(0);
template <typename T>
struct UnsignedOf;
template <>
struct UnsignedOf<int8_t> {
  using Type = uint8_t;
};
template <>
struct UnsignedOf<uint8_t> {
  using Type = uint8_t;
};
template <>
struct UnsignedOf<int16_t> {
  using Type = uint16_t;
};
template <>
struct UnsignedOf<uint16_t> {
  using Type = uint16_t;
};
template <>
struct UnsignedOf<int32_t> {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<uint32_t> {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<int64_t> {
  using Type = uint64_t;
};
template <>
struct UnsignedOf<uint64_t> {
  using Type = uint64_t;
};

template <typename T, typename F>
void Each2(void* dst, const void* a, const void* b, size_t n, F f) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Lane<T>::Store(f(Lane<T>::Load(x[i]), Lane<T>::Load(y[i])));
  }
}
template <typename T, typename F>
void Each1(void* dst, const void* a, size_t n, F f) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Lane<T>::Store(f(Lane<T>::Load(x[i])));
  }
}

// Integers wrap. The detour over a type without a sign, at least as wide as int, keeps that defined.
template <typename T>
T Wrapped(uint64_t v) {
  return static_cast<T>(static_cast<typename UnsignedOf<T>::Type>(v));
}
template <typename T>
void AddInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) {
    using U = typename UnsignedOf<T>::Type;
    return static_cast<T>(static_cast<U>(static_cast<U>(x) + static_cast<U>(y)));
  });
}
template <typename T>
void SubInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) {
    using U = typename UnsignedOf<T>::Type;
    return static_cast<T>(static_cast<U>(static_cast<U>(x) - static_cast<U>(y)));
  });
}
template <typename T>
T Product(T x, T y) {
  return Wrapped<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
}
template <typename T>
void MulInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, Product<T>);
}
template <typename T>
void MaxInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) { return x > y ? x : y; });
}
template <typename T>
void MinInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) { return x < y ? x : y; });
}
// By zero: all ones.
template <typename T>
void DivInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) {
    if (y == 0) {
      return T(-1);
    }
    if constexpr (kSigned<T>) {
      if (y == T(-1)) {
        return Wrapped<T>(0 - static_cast<uint64_t>(x));
      }
    }
    return static_cast<T>(x / y);
  });
}
template <typename T>
void MulAddDstInts(void* dst, const void* a, const void* b, size_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Wrapped<T>(static_cast<uint64_t>(d[i]) + static_cast<uint64_t>(Product(x[i], y[i])));
  }
}
template <typename T>
void AbsSubInts(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) {
    const uint64_t difference = static_cast<uint64_t>(x) - static_cast<uint64_t>(y);
    return Wrapped<T>(x < y ? 0 - difference : difference);
  });
}
template <typename T>
void AbsInts(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](T x) { return x < 0 ? Wrapped<T>(0 - static_cast<uint64_t>(x)) : x; });
}
template <typename T>
void NegInts(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](T x) { return Wrapped<T>(0 - static_cast<uint64_t>(x)); });
}
template <typename T>
void ReluInts(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](T x) { return x < 0 ? T(0) : x; });
}
template <typename T>
void ShiftLeftInts(void* dst, const void* a, const void* b, size_t n) {
  constexpr T kBits = sizeof(T) * 8;
  Each2<T>(dst, a, b, n, [](T x, T by) {
    return by >= kBits ? T(0) : Wrapped<T>(static_cast<uint64_t>(x) << (by & (kBits - 1)));
  });
}
template <typename T>
void ShiftRightInts(void* dst, const void* a, const void* b, size_t n) {
  constexpr T kBits = sizeof(T) * 8;
  Each2<T>(dst, a, b, n, [](T x, T by) {
    return by >= kBits ? (x < 0 ? T(-1) : T(0)) : static_cast<T>(x >> (by & (kBits - 1)));
  });
}
template <typename T>
void AndBits(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) { return static_cast<T>(x & y); });
}
template <typename T>
void OrBits(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) { return static_cast<T>(x | y); });
}
template <typename T>
void XorBits(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](T x, T y) { return static_cast<T>(x ^ y); });
}
template <typename T>
void NotBits(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](T x) { return static_cast<T>(~x); });
}

template <typename T>
void AddFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) { return x + y; });
}
template <typename T>
void SubFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) { return x - y; });
}
template <typename T>
void MulFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) { return x * y; });
}
// As Max and Min of lanes.cpp.
template <typename T>
void MaxFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) {
    const float equal = FloatOf(BitsOf(x) & BitsOf(y));
    return (x > y || x != x) ? x : (x == y ? equal : y);
  });
}
template <typename T>
void MinFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) {
    const float equal = FloatOf(BitsOf(x) | BitsOf(y));
    return (x < y || x != x) ? x : (x == y ? equal : y);
  });
}
// The product is not rounded; half and bfloat16_t round from float.
template <typename T>
void MulAddDstFloats(void* dst, const void* a, const void* b, size_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Lane<T>::Store(
        __builtin_fmaf(Lane<T>::Load(x[i]), Lane<T>::Load(y[i]), Lane<T>::Load(d[i])));
  }
}
template <typename T>
void MulDstAddFloats(void* dst, const void* a, const void* b, size_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Lane<T>::Store(
        __builtin_fmaf(Lane<T>::Load(d[i]), Lane<T>::Load(x[i]), Lane<T>::Load(y[i])));
  }
}
template <typename T>
void PreluFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) { return x > 0 ? x : x * y; });
}
template <typename T>
void AbsSubFloats(void* dst, const void* a, const void* b, size_t n) {
  Each2<T>(dst, a, b, n, [](float x, float y) { return __builtin_fabsf(x - y); });
}
template <typename T>
void NegFloats(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](float x) { return -x; });
}
template <typename T>
void RintFloats(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](float x) { return __builtin_nearbyintf(x); });
}
template <typename T>
void FloorFloats(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](float x) { return __builtin_floorf(x); });
}
template <typename T>
void CeilFloats(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](float x) { return __builtin_ceilf(x); });
}
template <typename T>
void RoundFloats(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](float x) { return __builtin_roundf(x); });
}
template <typename T>
void TruncFloats(void* dst, const void* a, size_t n) {
  Each1<T>(dst, a, n, [](float x) { return __builtin_truncf(x); });
}

template <typename T, Compare op>
void CompareLanes(uint8_t* bits, const void* a, const void* b, size_t bStep, size_t n) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; i += 8) {
    uint32_t byte = 0;
    for (size_t j = 0; j < 8; ++j) {
      const auto l = Lane<T>::Load(x[i + j]);
      const auto r = Lane<T>::Load(y[(i + j) * bStep]);
      const bool is = op == Compare::kLt   ? l < r
                      : op == Compare::kGt ? l > r
                      : op == Compare::kEq ? l == r
                      : op == Compare::kLe ? l <= r
                      : op == Compare::kGe ? l >= r
                                           : l != r;
      byte |= static_cast<uint32_t>(is) << j;
    }
    bits[i / 8] = static_cast<uint8_t>(byte);
  }
}

template <typename T>
void IntLanes(LaneTable* t, DType dtype) {
  auto two = [&](RegOp2 op) -> LaneTable::Binary& {
    return t->regBinary[static_cast<size_t>(op)][D(dtype)];
  };
  auto one = [&](RegOp1 op) -> LaneTable::Unary& {
    return t->regUnary[static_cast<size_t>(op)][D(dtype)];
  };
  two(RegOp2::kAdd) = AddInts<T>;
  two(RegOp2::kSub) = SubInts<T>;
  two(RegOp2::kMul) = MulInts<T>;
  two(RegOp2::kDiv) = DivInts<T>;
  two(RegOp2::kMax) = MaxInts<T>;
  two(RegOp2::kMin) = MinInts<T>;
  two(RegOp2::kAnd) = AndBits<T>;
  two(RegOp2::kOr) = OrBits<T>;
  two(RegOp2::kXor) = XorBits<T>;
  two(RegOp2::kShiftLeft) = ShiftLeftInts<T>;
  two(RegOp2::kShiftRight) = ShiftRightInts<T>;
  two(RegOp2::kMulAddDst) = MulAddDstInts<T>;
  two(RegOp2::kAbsSub) = AbsSubInts<T>;
  one(RegOp1::kNot) = NotBits<T>;
  if constexpr (kSigned<T>) {
    one(RegOp1::kAbs) = AbsInts<T>;
    one(RegOp1::kNeg) = NegInts<T>;
    one(RegOp1::kRelu) = ReluInts<T>;
  }
}
template <typename T>
void FloatLanes(LaneTable* t, DType dtype) {
  auto two = [&](RegOp2 op) -> LaneTable::Binary& {
    return t->regBinary[static_cast<size_t>(op)][D(dtype)];
  };
  auto one = [&](RegOp1 op) -> LaneTable::Unary& {
    return t->regUnary[static_cast<size_t>(op)][D(dtype)];
  };
  two(RegOp2::kAdd) = AddFloats<T>;
  two(RegOp2::kSub) = SubFloats<T>;
  two(RegOp2::kMul) = MulFloats<T>;
  two(RegOp2::kMax) = MaxFloats<T>;
  two(RegOp2::kMin) = MinFloats<T>;
  two(RegOp2::kMulAddDst) = MulAddDstFloats<T>;
  two(RegOp2::kMulDstAdd) = MulDstAddFloats<T>;
  two(RegOp2::kPrelu) = PreluFloats<T>;
  two(RegOp2::kAbsSub) = AbsSubFloats<T>;
  one(RegOp1::kNeg) = NegFloats<T>;
  one(RegOp1::kTruncateRint) = RintFloats<T>;
  one(RegOp1::kTruncateFloor) = FloorFloats<T>;
  one(RegOp1::kTruncateCeil) = CeilFloats<T>;
  one(RegOp1::kTruncateRound) = RoundFloats<T>;
  one(RegOp1::kTruncateTrunc) = TruncFloats<T>;
}
template <typename T>
void Compares(LaneTable* t, DType dtype) {
  auto compare = [&](Compare op) -> LaneTable::CompareLanes& {
    return t->regCompare[static_cast<size_t>(op)][D(dtype)];
  };
  compare(Compare::kLt) = CompareLanes<T, Compare::kLt>;
  compare(Compare::kGt) = CompareLanes<T, Compare::kGt>;
  compare(Compare::kEq) = CompareLanes<T, Compare::kEq>;
  compare(Compare::kLe) = CompareLanes<T, Compare::kLe>;
  compare(Compare::kGe) = CompareLanes<T, Compare::kGe>;
  compare(Compare::kNe) = CompareLanes<T, Compare::kNe>;
}

}  // namespace

void AddRegisters(LaneTable* t) {
  IntLanes<int8_t>(t, DType::kInt8);
  IntLanes<uint8_t>(t, DType::kUint8);
  IntLanes<int16_t>(t, DType::kInt16);
  IntLanes<uint16_t>(t, DType::kUint16);
  IntLanes<int32_t>(t, DType::kInt32);
  IntLanes<uint32_t>(t, DType::kUint32);
  IntLanes<int64_t>(t, DType::kInt64);
  IntLanes<uint64_t>(t, DType::kUint64);
  FloatLanes<float>(t, DType::kFloat);
  FloatLanes<half>(t, DType::kHalf);
  FloatLanes<bfloat16_t>(t, DType::kBf16);
  Compares<int8_t>(t, DType::kInt8);
  Compares<uint8_t>(t, DType::kUint8);
  Compares<int16_t>(t, DType::kInt16);
  Compares<uint16_t>(t, DType::kUint16);
  Compares<int32_t>(t, DType::kInt32);
  Compares<uint32_t>(t, DType::kUint32);
  Compares<int64_t>(t, DType::kInt64);
  Compares<uint64_t>(t, DType::kUint64);
  Compares<bfloat16_t>(t, DType::kBf16);
}

}  // namespace aclsim::ACLSIM_LEVEL
