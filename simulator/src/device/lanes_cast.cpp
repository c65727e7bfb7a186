// SPDX-License-Identifier: Apache-2.0
// Conversions between the element types. As host/level.h says.
#include "device/lanes_level.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

inline double RoundToInteger(double v, Round round) {
  switch (round) {
    case Round::kFloor:
      return __builtin_floor(v);
    case Round::kCeil:
      return __builtin_ceil(v);
    case Round::kTrunc:
      return __builtin_trunc(v);
    case Round::kRound:
      return __builtin_round(v);  // half away from zero
    default:
      return __builtin_nearbyint(v);
  }
}

// Returns whether a magnitude whose dropped bits are `rest` (of which `half` is the tie) moves up to the next representable one.
inline bool RoundsUp(Round round, bool negative, bool odd, uint64_t rest, uint64_t half) {
  switch (round) {
    case Round::kFloor:
      return negative && rest != 0;
    case Round::kCeil:
      return !negative && rest != 0;
    case Round::kRound:
      return rest >= half;
    case Round::kTrunc:
      return false;
    case Round::kOdd:
      return !odd && rest != 0;
    default:
      return rest > half || (rest == half && odd);
  }
}

inline uint16_t RoundToHalf(float v, Round round) {
  const uint32_t bits = BitsOf(v);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // NaN, infinity and every exponent that half lacks: what the mode does with the mantissa plays no part.
  if (magnitude >= 0x47800000u) {
    return FloatToHalf(v);
  }
  uint32_t shift = 13;
  uint32_t value = magnitude - 0x38000000u;
  if (magnitude < 0x38800000u) {
    // Denormal in half, whose unit is 2^-24; below float's own denormals everything is dropped.
    const uint32_t exponent = magnitude >> 23;
    const uint32_t wanted = 126 - (exponent == 0 ? 1 : exponent);
    shift = wanted > 31 ? 31 : wanted;
    value = (magnitude & 0x7fffffu) | (exponent == 0 ? 0 : 0x800000u);
  }
  const uint32_t kept = value >> shift;
  const uint32_t rest = value & ((1u << shift) - 1);
  const bool up = RoundsUp(round, sign != 0, (kept & 1u) != 0, rest, 1u << (shift - 1));
  return static_cast<uint16_t>(sign | (kept + (up ? 1 : 0)));
}

inline uint16_t RoundToBf16(float v, Round round) {
  const uint32_t bits = BitsOf(v);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {
    return FloatToBf16(v);
  }
  const uint32_t kept = magnitude >> 16;
  const bool up =
      RoundsUp(round, (bits >> 31) != 0, (kept & 1u) != 0, magnitude & 0xffffu, 0x8000u);
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | (kept + (up ? 1 : 0)));
}

// An integer to float: 24 bits are kept.
inline float IntegerToFloat(int64_t v, Round round) {
  const bool negative = v < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  if ((magnitude >> 24) == 0) {
    return static_cast<float>(v);
  }
  const int shift = 40 - __builtin_clzll(magnitude);
  const uint64_t kept = magnitude >> shift;
  const uint64_t rest = magnitude & ((1ull << shift) - 1);
  const bool up = RoundsUp(round, negative, (kept & 1u) != 0, rest, 1ull << (shift - 1));
  // kept + 1 may be 2^24, which float holds exactly; the scale is a power of two.
  const float scaled = static_cast<float>(kept + (up ? 1 : 0)) * static_cast<float>(1ull << shift);
  return negative ? -scaled : scaled;
}

template <typename T>
double Wide(T v) {
  return static_cast<double>(v);
}
template <>
double Wide(half v) {
  return HalfToFloat(v.bits);
}
template <>
double Wide(bfloat16_t v) {
  return Bf16ToFloat(v.bits);
}

// Float to integer saturates and turns NaN into 0; integer to narrower integer saturates too.
template <typename To>
struct IntegerRange;
#define ACLSIM_RANGE(type, lowest, largest) \
  template <>                               \
  struct IntegerRange<type> {               \
    static constexpr double kMin = lowest;  \
    static constexpr double kMax = largest; \
  };
ACLSIM_RANGE(int8_t, -128.0, 127.0)
ACLSIM_RANGE(uint8_t, 0.0, 255.0)
ACLSIM_RANGE(int16_t, -32768.0, 32767.0)
ACLSIM_RANGE(int32_t, -2147483648.0, 2147483647.0)
ACLSIM_RANGE(int64_t, -9223372036854775808.0,
             9223372036854774784.0)  // the largest double below 2^63

template <typename To, typename From>
void CastToInt(void* dst, const void* src, Round round, size_t n) {
  auto* d = static_cast<To*>(dst);
  const auto* x = static_cast<const From*>(src);
  for (size_t i = 0; i < n; ++i) {
    const double v = RoundToInteger(Wide(x[i]), round);
    using R = IntegerRange<To>;
    const bool above = v >= R::kMax;
    d[i] =
        v != v
            ? To(0)
            : (above ? static_cast<To>(sizeof(To) == 8 ? INT64_MAX : static_cast<int64_t>(R::kMax))
                     : static_cast<To>(v < R::kMin ? R::kMin : v));
  }
}

template <typename From>
void CastToFloat(void* dst, const void* src, Round, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const From*>(src);
  for (size_t i = 0; i < n; ++i) {
    d[i] = static_cast<float>(x[i]);
  }
}
template <>
void CastToFloat<half>(void* dst, const void* src, Round, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const uint16_t*>(src);
  for (size_t i = 0; i < n; ++i) {
    d[i] = HalfToFloat(x[i]);
  }
}
template <>
void CastToFloat<bfloat16_t>(void* dst, const void* src, Round, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const uint16_t*>(src);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Bf16ToFloat(x[i]);
  }
}
// These have more bits than float's mantissa, so the mode matters.
template <typename From>
void CastWideIntToFloat(void* dst, const void* src, Round round, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const From*>(src);
  if (round == Round::kNone || round == Round::kRint) {
    for (size_t i = 0; i < n; ++i) {
      d[i] = static_cast<float>(x[i]);
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    d[i] = IntegerToFloat(x[i], round);
  }
}

void CastFloatToFloat(void* dst, const void* src, Round round, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const float*>(src);
  for (size_t i = 0; i < n; ++i) {
    d[i] =
        static_cast<float>(RoundToInteger(x[i], round)) + 0.0f;  // a negative zero becomes positive
  }
}

template <typename From>
void CastToHalf(void* dst, const void* src, Round round, size_t n) {
  auto* d = static_cast<uint16_t*>(dst);
  const auto* x = static_cast<const From*>(src);
  if (round == Round::kNone || round == Round::kRint) {
    for (size_t i = 0; i < n; ++i) {
      d[i] = FloatToHalf(static_cast<float>(x[i]));
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    d[i] = RoundToHalf(static_cast<float>(x[i]), round);
  }
}

void CastFloatToBf16(void* dst, const void* src, Round round, size_t n) {
  auto* d = static_cast<uint16_t*>(dst);
  const auto* x = static_cast<const float*>(src);
  if (round == Round::kRint) {
    for (size_t i = 0; i < n; ++i) {
      d[i] = FloatToBf16(x[i]);
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    d[i] = RoundToBf16(x[i], round);
  }
}

}  // namespace

void AddCasts(LaneTable* table) {
  auto cast = [table](DType from, DType to) -> LaneTable::Cast& {
    return table->cast[D(from)][D(to)];
  };
  cast(DType::kHalf, DType::kFloat) = CastToFloat<half>;
  cast(DType::kBf16, DType::kFloat) = CastToFloat<bfloat16_t>;
  cast(DType::kInt16, DType::kFloat) = CastToFloat<int16_t>;
  cast(DType::kInt32, DType::kFloat) = CastWideIntToFloat<int32_t>;
  cast(DType::kInt64, DType::kFloat) = CastWideIntToFloat<int64_t>;
  cast(DType::kFloat, DType::kFloat) = CastFloatToFloat;
  cast(DType::kFloat, DType::kHalf) = CastToHalf<float>;
  cast(DType::kInt8, DType::kHalf) = CastToHalf<int8_t>;
  cast(DType::kUint8, DType::kHalf) = CastToHalf<uint8_t>;
  cast(DType::kInt16, DType::kHalf) = CastToHalf<int16_t>;
  cast(DType::kFloat, DType::kBf16) = CastFloatToBf16;
  cast(DType::kFloat, DType::kInt16) = CastToInt<int16_t, float>;
  cast(DType::kFloat, DType::kInt32) = CastToInt<int32_t, float>;
  cast(DType::kFloat, DType::kInt64) = CastToInt<int64_t, float>;
  cast(DType::kHalf, DType::kInt8) = CastToInt<int8_t, half>;
  cast(DType::kHalf, DType::kUint8) = CastToInt<uint8_t, half>;
  cast(DType::kHalf, DType::kInt16) = CastToInt<int16_t, half>;
  cast(DType::kHalf, DType::kInt32) = CastToInt<int32_t, half>;
  cast(DType::kBf16, DType::kInt32) = CastToInt<int32_t, bfloat16_t>;
  cast(DType::kInt32, DType::kInt16) = CastToInt<int16_t, int32_t>;
  cast(DType::kInt32, DType::kInt64) = CastToInt<int64_t, int32_t>;
  cast(DType::kInt64, DType::kInt32) = CastToInt<int32_t, int64_t>;
}

}  // namespace aclsim::ACLSIM_LEVEL
