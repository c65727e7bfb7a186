// SPDX-License-Identifier: Apache-2.0
// Instructions on tensors and on vector registers share these: lanes in the type that the vector unit computes in, loops over them,
// the arithmetic of one. As host/level.h says.
#pragma once

#include <type_traits>

#include "device/lanes_level.h"

#if defined(__clang__)
#define ACLSIM_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ACLSIM_IVDEP _Pragma("GCC ivdep")
#endif

namespace aclsim::ACLSIM_LEVEL {

namespace {

// --- loading and storing lanes in the type that the vector unit computes in -------------------------------------------

template <typename T>
struct Compute {
  using Type = T;
  static T Load(T v) { return v; }
  static T Store(T v) { return v; }
};
template <>
struct Compute<half> {
  using Type = float;
  static float Load(half v) { return HalfToFloat(v.bits); }
  static half Store(float v) {
    half h;
    h.bits = FloatToHalf(v);
    return h;
  }
};
template <>
struct Compute<bfloat16_t> {
  using Type = float;
  static float Load(bfloat16_t v) { return Bf16ToFloat(v.bits); }
  static bfloat16_t Store(float v) {
    bfloat16_t b;
    b.bits = FloatToBf16(v);
    return b;
  }
};

template <typename T, typename F>
void Map1(void* dst, const void* a, size_t n, F f) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  ACLSIM_IVDEP
  for (size_t i = 0; i < n; ++i) {
    d[i] = Compute<T>::Store(f(Compute<T>::Load(x[i])));
  }
}
template <typename T, typename F>
void Map2(void* dst, const void* a, const void* b, size_t n, F f) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  ACLSIM_IVDEP
  for (size_t i = 0; i < n; ++i) {
    d[i] = Compute<T>::Store(f(Compute<T>::Load(x[i]), Compute<T>::Load(y[i])));
  }
}
// --- one lane ---------------------------------------------------------------------------------------------------------

template <typename C>
constexpr bool kIsFloat = std::is_same_v<C, float>;

// Integers wrap, as the vector unit does outside saturation mode; the unsigned detour keeps that defined in C++.
template <typename C>
using Unsigned =
    typename std::conditional_t<kIsFloat<C>, std::type_identity<C>, std::make_unsigned<C>>::type;
template <typename C>
C Add(C a, C b) {
  using U = Unsigned<C>;
  return static_cast<C>(static_cast<U>(a) + static_cast<U>(b));
}
template <typename C>
C Sub(C a, C b) {
  using U = Unsigned<C>;
  return static_cast<C>(static_cast<U>(a) - static_cast<U>(b));
}
template <typename C>
C Mul(C a, C b) {
  if constexpr (kIsFloat<C>) {
    return a * b;
  } else {
    // Operands narrower than int would be multiplied as int, which overflows.
    using Wide = std::conditional_t<sizeof(C) == 8, uint64_t, uint32_t>;
    return static_cast<C>(static_cast<Wide>(static_cast<Unsigned<C>>(a)) *
                          static_cast<Unsigned<C>>(b));
  }
}
// Integers by comparison. Of floats a NaN operand wins, and +0 is above -0: the bits of equal operands differ in nothing but
// the sign of a zero, which AND clears and OR sets.
template <typename C>
C Max(C a, C b) {
  if constexpr (kIsFloat<C>) {
    const float equal = FloatOf(BitsOf(a) & BitsOf(b));
    return (a > b || a != a) ? a : (a == b ? equal : b);
  } else {
    return a > b ? a : b;
  }
}
template <typename C>
C Min(C a, C b) {
  if constexpr (kIsFloat<C>) {
    const float equal = FloatOf(BitsOf(a) | BitsOf(b));
    return (a < b || a != a) ? a : (a == b ? equal : b);
  } else {
    return a < b ? a : b;
  }
}

// --- instructions -----------------------------------------------------------------------------------------------------

#define ACLSIM_LANES1(name, expr)                      \
  template <typename T>                                \
  void name(void* dst, const void* a, size_t n) {      \
    using C = typename Compute<T>::Type;               \
    Map1<T>(dst, a, n, [](C x) -> C { return expr; }); \
  }
#define ACLSIM_LANES2(name, expr)                                \
  template <typename T>                                          \
  void name(void* dst, const void* a, const void* b, size_t n) { \
    using C = typename Compute<T>::Type;                         \
    Map2<T>(dst, a, b, n, [](C x, C y) -> C { return expr; });   \
  }
ACLSIM_LANES2(Add2, Add(x, y))
ACLSIM_LANES2(Sub2, Sub(x, y))
ACLSIM_LANES2(Mul2, Mul(x, y))
ACLSIM_LANES2(Max2, Max(x, y))
ACLSIM_LANES2(Min2, Min(x, y))
ACLSIM_LANES2(And2, static_cast<C>(x& y))
ACLSIM_LANES2(Or2, static_cast<C>(x | y))
ACLSIM_LANES1(Not1, static_cast<C>(~x))
ACLSIM_LANES1(Relu1, Max(x, C(0)))

// A product as what is added next: rounded to T, or as it is.
template <typename T, bool rounded, typename C>
C Product(C a, C b) {
  using L = Compute<T>;
  return rounded ? L::Load(L::Store(Mul(a, b))) : Mul(a, b);
}

// dst is a third operand: read, then written. The sources may be narrower: half into float.
template <typename T, typename S = T, bool rounded = true>
void MulAddDst2(void* dst, const void* a, const void* b, size_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const S*>(a);
  const auto* y = static_cast<const S*>(b);
  ACLSIM_IVDEP
  for (size_t i = 0; i < n; ++i) {
    using L = Compute<T>;
    d[i] = L::Store(
        Add(L::Load(d[i]), Product<T, rounded>(Compute<S>::Load(x[i]), Compute<S>::Load(y[i]))));
  }
}

// --- comparing -------------------------------------------------------------------------------------------------------

template <Compare op, typename C>
bool Holds(C a, C b) {
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
      return !(a ==
               b);  // for a NaN the documents say false, against IEEE and against kernels in use
  }
}

template <typename T, Compare op>
void CompareBits(uint8_t* bits, const void* a, const void* b, size_t bStep, size_t n) {
  constexpr size_t kChunk = 256;
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  uint8_t flags[kChunk];
  for (size_t begin = 0; begin < n; begin += kChunk) {
    const size_t m = n - begin < kChunk ? n - begin : kChunk;
    if (bStep == 0) {
      const auto other = Compute<T>::Load(y[0]);
      for (size_t i = 0; i < m; ++i) {
        flags[i] = Holds<op>(Compute<T>::Load(x[begin + i]), other);
      }
    } else {
      for (size_t i = 0; i < m; ++i) {
        flags[i] = Holds<op>(Compute<T>::Load(x[begin + i]), Compute<T>::Load(y[begin + i]));
      }
    }
    for (size_t i = 0; i < m; i += 8) {
      // The product moves the low bit of byte k to bit 56 + k.
      uint64_t eight;
      __builtin_memcpy(&eight, flags + i, sizeof(eight));
      bits[(begin + i) / 8] = static_cast<uint8_t>((eight * 0x0102040810204080ull) >> 56);
    }
  }
}

}  // namespace

}  // namespace aclsim::ACLSIM_LEVEL
