// SPDX-License-Identifier: Apache-2.0
// Conversion loops for every pair of types.
#include "opbase/cast.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "opbase/element_types.h"

namespace op::internal {
namespace {

// A double that, rounded to any type of at most 51 mantissa bits, gives what the integer itself
// would give: bits that double cannot hold are folded into its last one (round to odd).
template <typename T>
double OddDouble(T value) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = value < 0;
    uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude >> 53 != 0) magnitude = (magnitude >> 11 | ((magnitude & 0x7FF) != 0)) << 11;
    const double result = static_cast<double>(magnitude);
    return negative ? -result : result;
  }
}

// Does the same from double to float, for types narrower than float.
float OddFloat(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest)) {
    return nearest;
  }
  uint32_t bits = FloatBits(nearest);
  // Rounded away from zero: step back, then mark as inexact.
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return FloatFromBits(bits | 1);
}

template <typename To>
To FromFloat(float value) {
  To result;
  if constexpr (std::is_same_v<To, fp16_t>) {
    result.val = HalfBits(value);
  } else {
    result.value = BFloatBits(value);
  }
  return result;
}

// NaN is 0, what does not fit is the nearest end of the range.
template <typename To, typename From>
To Saturate(From value) {
  constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
  // The power of two above the range is exact in every floating type, the maximum itself may not
  // be.
  constexpr From kHigh = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * From{2};
  if (!(value > kLow)) return std::isnan(value) ? To{0} : std::numeric_limits<To>::min();
  if (value >= kHigh) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <typename To, typename From>
To Convert(From value) {
  if constexpr (std::is_same_v<From, Bool>) {
    return Convert<To>(static_cast<uint8_t>(value.value != 0));
  } else if constexpr (kIsNarrow<From>) {
    return Convert<To>(static_cast<float>(value));
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>) {
      return To(static_cast<typename To::value_type>(value.real()),
                static_cast<typename To::value_type>(value.imag()));
    } else if constexpr (std::is_same_v<To, Bool>) {
      return Bool{static_cast<uint8_t>(value.real() != 0 || value.imag() != 0)};
    } else {
      return Convert<To>(value.real());
    }
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != 0)};
  } else if constexpr (kIsNarrow<To>) {
    if constexpr (std::is_same_v<From, float>) {
      return FromFloat<To>(value);
    } else if constexpr (std::is_same_v<From, double>) {
      return FromFloat<To>(OddFloat(value));
    } else {
      return FromFloat<To>(OddFloat(OddDouble(value)));
    }
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return Saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
void Loop(const void* from, void* to, uint64_t count) {
  const From* __restrict source = static_cast<const From*>(from);
  To* __restrict target = static_cast<To*>(to);
  for (uint64_t i = 0; i < count; ++i) target[i] = Convert<To>(source[i]);
}

}  // namespace

bool CanConvert(ge::DataType type) {
  return WithType(type, [](auto) {});
}

bool ConvertElements(const void* from, ge::DataType fromType, void* to, ge::DataType toType,
                     uint64_t count) {
  return WithType(fromType,
                  [&](auto source) {
                    using From = typename decltype(source)::type;
                    WithType(toType, [&](auto target) {
                      using To = typename decltype(target)::type;
                      Loop<To, From>(from, to, count);
                    });
                  }) &&
         CanConvert(toType);
}

}  // namespace op::internal
