// SPDX-License-Identifier: Apache-2.0
// Arithmetic, comparisons, large copies. As host/level.h says.
#include "device/lanes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "device/lanes_exp.h"
#include "device/lanes_level.h"
#include "device/lanes_loops.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

// Like Exp, in double, rounded once, correctly for every float.
inline float Ln(float x) {
  // Denormals get an exponent; whatever the bits of other numbers come to is replaced at the end.
  const bool tiny = (BitsOf(x) & 0x7f800000) == 0;
  const uint32_t bits = BitsOf(tiny ? x * 0x1p+23f : x);
  // Mantissa into [sqrt(1/2), sqrt(2)), so that the series below converges at once.
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3) >> 23;
  const double m = FloatOf(bits - (static_cast<uint32_t>(e) << 23));
  const double k = e - (tiny ? 23 : 0);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  // Minimax: ln m = 2 s (1 + z p(z)), relative error 2e-16.
  double p = 0x1.587598c4e881fp-4;
  p = p * z + 0x1.732c517f4100ep-4;
  p = p * z + 0x1.c722769d7988bp-4;
  p = p * z + 0x1.2492417a8e869p-3;
  p = p * z + 0x1.999999a28ea84p-3;
  p = p * z + 0x1.555555555397ap-2;
  // The sum with what its rounding drops, because some logarithms lie next to the middle of two floats: the last bit of the
  // double is set where anything was dropped (round to odd). k times kLn2High is exact.
  const double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
  const double s2 = s + s;
  const double high = k * kLn2High;
  const double sum = high + s2;
  const double low = (s2 - (sum - high)) + (k * kLn2Low + s2 * z * p);
  const double value = sum + low;
  const double dropped = low - (value - sum);
  uint64_t valueBits;
  __builtin_memcpy(&valueBits, &value, sizeof(valueBits));
  const uint64_t outwards = (dropped > 0) == (value > 0) ? 1 : ~0ull;
  valueBits += dropped != 0 && (valueBits & 1) == 0 ? outwards : 0;
  double odd;
  __builtin_memcpy(&odd, &valueBits, sizeof(odd));
  float result = static_cast<float>(odd);
  result = x == 0.0f ? -__builtin_inff() : result;
  result = x == __builtin_inff() ? x : result;
  result = x < 0.0f ? __builtin_nanf("") : result;
  return x != x ? x : result;
}

// --- instructions -----------------------------------------------------------------------------------------------------

ACLSIM_LANES2(Div2, x / y)
ACLSIM_LANES2(AddRelu2, Max(Add(x, y), C(0)))
ACLSIM_LANES2(SubRelu2, Max(Sub(x, y), C(0)))

// dst = a * dst + b, and no less than 0.
template <typename T, bool relu, bool rounded = true>
void FusedSum(void* dst, const void* a, const void* b, size_t n) {
  using L = Compute<T>;
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  ACLSIM_IVDEP
  for (size_t i = 0; i < n; ++i) {
    const auto sum = Add(Product<T, rounded>(L::Load(x[i]), L::Load(d[i])), L::Load(y[i]));
    d[i] = L::Store(relu ? Max(sum, typename L::Type(0)) : sum);
  }
}
template <typename T>
constexpr auto* FusedMulAdd2 = FusedSum<T, false>;
template <typename T>
constexpr auto* MulAddRelu2 = FusedSum<T, true>;

template <typename T>
void Exp1(void* dst, const void* a, size_t n) {
  Map1<T>(dst, a, n, [](auto x) { return Exp(x); });
}
#ifdef __AVX512F__
template <>
void Exp1<float>(void* dst, const void* a, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const float*>(a);
  const size_t whole = n / 16 * 16;
  for (size_t i = 0; i < whole; i += 16) {
    Exp16(d + i, x + i);
  }
  Map1<float>(d + whole, x + whole, n - whole, [](float v) { return Exp(v); });
}
#endif
ACLSIM_LANES1(Ln1, Ln(x))
ACLSIM_LANES1(Abs1, __builtin_fabsf(x))
ACLSIM_LANES1(Sqrt1, __builtin_sqrtf(x))
ACLSIM_LANES1(Rsqrt1, 1.0f / __builtin_sqrtf(x))
ACLSIM_LANES1(Reciprocal1, 1.0f / x)

template <typename C>
C ScalarOf(ScalarValue s) {
  if constexpr (kIsFloat<C>) {
    return s.f;
  } else {
    return static_cast<C>(s.i);
  }
}

#define ACLSIM_LANES_SCALAR(name, expr)                               \
  template <typename T>                                               \
  void name(void* dst, const void* a, ScalarValue scalar, size_t n) { \
    using C = typename Compute<T>::Type;                              \
    const C s = ScalarOf<C>(scalar);                                  \
    Map1<T>(dst, a, n, [s](C x) -> C { return expr; });               \
  }
ACLSIM_LANES_SCALAR(Adds1, Add(x, s))
ACLSIM_LANES_SCALAR(Muls1, Mul(x, s))
// Numbers that equal a scalar other than zero have its bits: one comparison decides, and a NaN in x stays.
template <typename C>
bool Decides(C s) {
  return s == s && s != C(0);
}
#define ACLSIM_LANES_BOUND(name, expr, byOne)                         \
  template <typename T>                                               \
  void name(void* dst, const void* a, ScalarValue scalar, size_t n) { \
    using C = typename Compute<T>::Type;                              \
    const C s = ScalarOf<C>(scalar);                                  \
    if (Decides(s)) {                                                 \
      Map1<T>(dst, a, n, [s](C x) -> C { return byOne; });            \
    } else {                                                          \
      Map1<T>(dst, a, n, [s](C x) -> C { return expr; });             \
    }                                                                 \
  }
ACLSIM_LANES_BOUND(Maxs1, Max(x, s), s > x ? s : x)
ACLSIM_LANES_BOUND(Mins1, Min(x, s), s < x ? s : x)
// By the sign bit, so that -0 is scaled like every negative number.
ACLSIM_LANES_SCALAR(LeakyRelu1, ((BitsOf(x) >> 31) == 0 ? x : Mul(x, s)))
// The counts reach the type's width, where C++ leaves a shift undefined: all bits go, or only the sign stays. 64-bit lanes
// have room for that.
ACLSIM_LANES_SCALAR(ShiftLeft1, static_cast<C>(static_cast<uint64_t>(x) << s))
ACLSIM_LANES_SCALAR(ShiftRight1, static_cast<C>(static_cast<int64_t>(x) >> s))
// Adds back the last bit that was shifted out, of signed types only.
ACLSIM_LANES_SCALAR(ShiftRightRound1,
                    static_cast<C>((static_cast<int64_t>(x) >> s) +
                                   (std::is_signed_v<T> && s > 0
                                        ? (static_cast<int64_t>(x) >> (s > 0 ? s - 1 : 0)) & 1
                                        : 0)))

template <typename T, typename S = T, bool rounded = true>
void Axpy1(void* dst, const void* a, ScalarValue scalar, size_t n) {
  using L = Compute<T>;
  const auto s = ScalarOf<typename L::Type>(scalar);
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const S*>(a);
  ACLSIM_IVDEP
  for (size_t i = 0; i < n; ++i) {
    d[i] = L::Store(Add(L::Load(d[i]), Product<T, rounded>(Compute<S>::Load(x[i]), s)));
  }
}

// --- sums --------------------------------------------------------------------------------------------------------------

// Neighbours first: every level adds the results of the one before in pairs.
template <size_t kLanes>
inline float TreeSum(const float* a) {
  if constexpr (kLanes == 1) {
    return a[0];
  } else {
    float sums[kLanes / 2];
    for (size_t i = 0; i < kLanes / 2; ++i) {
      sums[i] = a[2 * i] + a[2 * i + 1];
    }
    return TreeSum<kLanes / 2>(sums);
  }
}

void TreeSumFloat(const float* a, size_t n, size_t step, size_t repeats, float* out) {
  if (n == 64) {
    for (size_t r = 0; r < repeats; ++r) {
      out[r] = TreeSum<64>(a + r * step);
    }
    return;
  }
  float lanes[64] = {};
  for (size_t r = 0; r < repeats; ++r) {
    for (size_t i = 0; i < n; ++i) {
      lanes[i] = a[r * step + i];
    }
    out[r] = TreeSum<64>(lanes);
  }
}

// --- selecting -------------------------------------------------------------------------------------------------------

template <typename T>
void SelectByBits(void* dst, const uint8_t* bits, const void* a, const void* b, size_t bStep,
                  size_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  const size_t whole = n / 8 * 8;
  ACLSIM_IVDEP
  for (size_t i = 0; i < whole; i += 8) {
    const uint32_t eight = bits[i / 8];
    for (uint32_t j = 0; j < 8; ++j) {
      const T mask = static_cast<T>(0 - ((eight >> j) & 1u));
      d[i + j] = static_cast<T>((x[i + j] & mask) | (y[(i + j) * bStep] & static_cast<T>(~mask)));
    }
  }
  for (size_t i = whole; i < n; ++i) {
    d[i] = (bits[i / 8] >> (i % 8)) & 1 ? x[i] : y[i * bStep];
  }
}

// --- large copies -----------------------------------------------------------------------------------------------------

constexpr size_t kLine = 64;  // of the host's caches
constexpr size_t kReadAhead =
    8192;  // bytes; hosts' own prefetchers stop at pages and start anew with every tile

void Load(uint8_t* dst, const uint8_t* src, size_t n) {
  size_t i = 0;
  for (; i + kLine <= n; i += kLine) {
    __builtin_prefetch(src + i + kReadAhead, 0, 2);  // past the first cache, which has little room
    __builtin_memcpy(dst + i, src + i, kLine);
  }
  __builtin_memcpy(dst + i, src + i, n - i);
}

void Stream(uint8_t* dst, const uint8_t* src, size_t n) {
#ifdef __SSE2__
  // Only whole lines go past the caches.
  size_t i = (0 - reinterpret_cast<uintptr_t>(dst)) % kLine;
  i = i < n ? i : n;
  __builtin_memcpy(dst, src, i);
  for (; i + kLine <= n; i += kLine) {
    for (size_t j = 0; j < kLine; j += sizeof(__m128i)) {
      __m128i piece;
      __builtin_memcpy(&piece, src + i + j, sizeof(piece));
      _mm_stream_si128(reinterpret_cast<__m128i*>(dst + i + j), piece);
    }
  }
  __builtin_memcpy(dst + i, src + i, n - i);
#else
  __builtin_memcpy(dst, src, n);
#endif
}

LaneTable MakeTable() {
  LaneTable t{};
  // Sets of dtypes, as instructions.def names them.
#define ACLSIM_ROWS_FLOATS(row, fn)  \
  row[D(DType::kFloat)] = fn<float>; \
  row[D(DType::kHalf)] = fn<half>;
#define ACLSIM_ROWS_FLOATS_INT16(row, fn) \
  ACLSIM_ROWS_FLOATS(row, fn)             \
  row[D(DType::kInt16)] = fn<int16_t>;
#define ACLSIM_ROWS_FLOATS_INT32(row, fn) \
  ACLSIM_ROWS_FLOATS(row, fn)             \
  row[D(DType::kInt32)] = fn<int32_t>;
#define ACLSIM_ROWS_ARITH(row, fn)  \
  ACLSIM_ROWS_FLOATS_INT16(row, fn) \
  row[D(DType::kInt32)] = fn<int32_t>;
#define ACLSIM_ROWS_BITS16(row, fn)    \
  row[D(DType::kInt16)] = fn<int16_t>; \
  row[D(DType::kUint16)] = fn<uint16_t>;
#define ACLSIM_ROWS_INTS(row, fn)      \
  ACLSIM_ROWS_BITS16(row, fn)          \
  row[D(DType::kInt32)] = fn<int32_t>; \
  row[D(DType::kUint32)] = fn<uint32_t>;
  // Reciprocal's body is Reciprocal1<T>: 1 and 2 say how many sources it has.
#define ACLSIM_BINARY(Name, dtypes, ...) \
  ACLSIM_ROWS_##dtypes(t.binary[static_cast<size_t>(Op2::k##Name)], Name##2)
#define ACLSIM_UNARY(Name, dtypes, ...) \
  ACLSIM_ROWS_##dtypes(t.unary[static_cast<size_t>(Op1::k##Name)], Name##1)
#define ACLSIM_SCALAR(Name, dtypes, ...) \
  ACLSIM_ROWS_##dtypes(t.scalar[static_cast<size_t>(OpScalar::k##Name)], Name##1)
#define ACLSIM_SCALAR_VARIANT(Name, of, dtypes) ACLSIM_SCALAR(Name, dtypes)
#include "ascendc/instructions.def"

  AddCasts(&t);
  t.treeSumFloat = TreeSumFloat;
#define ACLSIM_COMPARE(op)                                                                         \
  t.compare[static_cast<size_t>(Compare::op)][D(DType::kFloat)] = CompareBits<float, Compare::op>; \
  t.compare[static_cast<size_t>(Compare::op)][D(DType::kHalf)] = CompareBits<half, Compare::op>;
  ACLSIM_COMPARE(kLt)
  ACLSIM_COMPARE(kGt)
  ACLSIM_COMPARE(kEq)
  ACLSIM_COMPARE(kLe)
  ACLSIM_COMPARE(kGe)
  ACLSIM_COMPARE(kNe)
  t.compare[static_cast<size_t>(Compare::kEq)][D(DType::kInt32)] =
      CompareBits<int32_t, Compare::kEq>;
  t.load = Load;
  t.stream = Stream;
  t.select2 = SelectByBits<uint16_t>;
  t.select4 = SelectByBits<uint32_t>;
  t.mulAddDstHalf = MulAddDst2<float, half>;
  t.axpyHalf = Axpy1<float, half>;
  t.wideProduct = {MulAddDst2<half, half, false>, FusedSum<half, false, false>,
                   FusedSum<half, true, false>, Axpy1<half, half, false>};
  AddRegisters(&t);
  return t;
}

}  // namespace

const LaneTable& Table();
const LaneTable& Table() {
  static const LaneTable table = MakeTable();
  return table;
}

}  // namespace aclsim::ACLSIM_LEVEL
