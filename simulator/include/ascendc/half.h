// SPDX-License-Identifier: Apache-2.0
// half and bfloat16_t as the device compiler has them: 16-bit storage, conversions to and from float with round to nearest
// even. Scalar arithmetic goes through float.
#pragma once

#include <cstdint>
#include <type_traits>

namespace aclsim {

constexpr uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }
constexpr float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Both directions are free of branches so that loops over them vectorise.
constexpr float HalfToFloat(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fffu) << 13;
  // Rebias by a multiplication, which also normalises denormals; infinities and NaN get the exponent bits that it misses.
  const uint32_t scaled = BitsOf(FloatOf(magnitude) * FloatOf(0x77800000u));
  const uint32_t special = magnitude >= 0x0f800000u ? (magnitude | 0x7f800000u) : scaled;
  return FloatOf(sign | special);
}

constexpr uint16_t FloatToHalf(float value) {
  const uint32_t bits = BitsOf(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: round to nearest even on the 13 dropped bits.
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Results below 2^-14: adding 0.5 lets the float adder do the rounding at the denormal's last bit.
  const uint32_t denormal = BitsOf(FloatOf(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? denormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? (0x7e00u | ((magnitude >> 13) & 0x1ffu)) : result;
  return static_cast<uint16_t>(sign | result);
}

constexpr float Bf16ToFloat(uint16_t b) { return FloatOf(static_cast<uint32_t>(b) << 16); }

constexpr uint16_t FloatToBf16(float value) {
  const uint32_t bits = BitsOf(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(nan ? ((bits >> 16) | 0x40u) : rounded);
}

}  // namespace aclsim

struct half {
  uint16_t bits;

  half() = default;
  constexpr half(float value) : bits(aclsim::FloatToHalf(value)) {}
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
  constexpr half(Number value) : half(static_cast<float>(value)) {}
  constexpr operator float() const { return aclsim::HalfToFloat(bits); }
  constexpr half& operator+=(float other) {
    return *this = half(static_cast<float>(*this) + other);
  }
  constexpr half& operator-=(float other) {
    return *this = half(static_cast<float>(*this) - other);
  }
  constexpr half& operator*=(float other) {
    return *this = half(static_cast<float>(*this) * other);
  }
  constexpr half& operator/=(float other) {
    return *this = half(static_cast<float>(*this) / other);
  }
};

struct bfloat16_t {
  uint16_t bits;

  bfloat16_t() = default;
  constexpr bfloat16_t(float value) : bits(aclsim::FloatToBf16(value)) {}
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic<Number>::value>>
  constexpr bfloat16_t(Number value) : bfloat16_t(static_cast<float>(value)) {}
  constexpr operator float() const { return aclsim::Bf16ToFloat(bits); }
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2, "16-bit storage types");

using float16_t = half;
using float32_t = float;
