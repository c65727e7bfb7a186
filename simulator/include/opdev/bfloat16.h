// SPDX-License-Identifier: Apache-2.0
// op::bfloat16 for host code. Converts with round to nearest even; arithmetic is in float.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "opdev/fp16_t.h"

namespace op {

typedef std::complex<float> complex64;
typedef std::complex<double> complex128;

namespace internal {

inline uint16_t BFloatBits(float value) {
  const uint32_t bits = FloatBits(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = ((bits >> 16) & 0x8000u) | 0x7FC0u;
  return static_cast<uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded);
}
inline float BFloatToFloat(uint16_t bits) {
  return FloatFromBits(static_cast<uint32_t>(bits) << 16);
}

}  // namespace internal

struct bfloat16 {
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return from_bits_t(); }

  uint16_t value = 0;

  bfloat16() = default;
  constexpr bfloat16(uint16_t bits, from_bits_t) : value(bits) {}
  template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  bfloat16(T v) : value(internal::BFloatBits(static_cast<float>(v))) {}

  operator float() const { return internal::BFloatToFloat(value); }
};

}  // namespace op
