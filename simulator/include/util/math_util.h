// SPDX-License-Identifier: Apache-2.0
// Integer division and alignment for tiling. A divisor of 0 never traps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace Ops {
namespace Base {

template <typename T>
constexpr auto FloorDiv(T x, T y) -> std::enable_if_t<std::is_integral<T>::value, T> {
  return y == 0 ? x : x / y;
}
template <typename T>
constexpr auto FloorAlign(T x, T align) -> std::enable_if_t<std::is_integral<T>::value, T> {
  return align == 0 ? 0 : x / align * align;
}
// Rounds towards positive infinity; x when y is 0.
template <typename T>
constexpr auto CeilDiv(T x, T y) -> std::enable_if_t<std::is_integral<T>::value, T> {
  if (y == 0) return x;
  const T quotient = x / y;
  const bool positive = (x < 0) == (y < 0);
  return x % y != 0 && positive ? quotient + 1 : quotient;
}
// Saturates instead of overflowing; 0 when align is 0.
template <typename T>
constexpr auto CeilAlign(T x, T align) -> std::enable_if_t<std::is_integral<T>::value, T> {
  if (align == 0) return 0;
  T result = 0;
  return __builtin_mul_overflow(CeilDiv(x, align), align, &result) ? std::numeric_limits<T>::max()
                                                                   : result;
}
template <typename T>
auto IsFloatEqual(T a, T b) -> std::enable_if_t<std::is_floating_point<T>::value, bool> {
  if (std::isnan(a) || std::isnan(b)) return false;
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= std::numeric_limits<T>::epsilon();
}

}  // namespace Base
}  // namespace Ops
