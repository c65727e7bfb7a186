// SPDX-License-Identifier: Apache-2.0
// op::fp16_t: IEEE binary16 for host code. Converts with round to nearest even; arithmetic is in
// float, and rounded after each operation on two of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace op {

constexpr uint16_t DIM_0 = 0;
constexpr uint16_t DIM_1 = 1;
constexpr uint16_t DIM_2 = 2;
constexpr uint16_t DIM_3 = 3;
constexpr uint16_t DIM_4 = 4;
constexpr uint16_t DIM_5 = 5;
constexpr uint16_t DIM_6 = 6;
constexpr uint16_t DIM_7 = 7;
constexpr uint16_t DIM_8 = 8;

namespace internal {

inline uint32_t FloatBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float FloatFromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Branch-light on purpose: loops over it vectorise.
inline uint16_t HalfBits(float value) {
  const uint32_t bits = FloatBits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  // Adding 0.5 puts the bits of a subnormal result, rounded to nearest even, at the end of the
  // mantissa.
  const uint32_t subnormal = FloatBits(FloatFromBits(magnitude) + 0.5f) - 0x3F000000u;
  const uint32_t normal = (magnitude + 0xC8000FFFu + ((magnitude >> 13) & 1u)) >> 13;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x47800000u ? 0x7C00u : result;
  result = magnitude > 0x7F800000u ? 0x7E00u : result;
  return static_cast<uint16_t>(sign | result);
}
inline float HalfToFloat(uint16_t half) {
  const uint32_t magnitude = half & 0x7FFFu;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t special = (magnitude << 13) | 0x7F800000u;
  // 2^-24 per unit, exact in float.
  const uint32_t subnormal =
      FloatBits(static_cast<float>(static_cast<int32_t>(magnitude)) * 5.9604644775390625e-8f);
  uint32_t result = magnitude < 0x400u ? subnormal : normal;
  result = magnitude >= 0x7C00u ? special : result;
  return FloatFromBits(sign | result);
}

}  // namespace internal

struct fp16_t {
  uint16_t val = 0;

  fp16_t() = default;
  template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  fp16_t(T value) : val(internal::HalfBits(static_cast<float>(value))) {}

  operator float() const { return internal::HalfToFloat(val); }
  float toFloat() const { return internal::HalfToFloat(val); }

  template <typename T>
  fp16_t& operator+=(const T& other) {
    return *this = fp16_t(*this + static_cast<float>(other));
  }
  template <typename T>
  fp16_t& operator-=(const T& other) {
    return *this = fp16_t(*this - static_cast<float>(other));
  }
  template <typename T>
  fp16_t& operator*=(const T& other) {
    return *this = fp16_t(*this * static_cast<float>(other));
  }
  template <typename T>
  fp16_t& operator/=(const T& other) {
    return *this = fp16_t(*this / static_cast<float>(other));
  }
};

// One operand of another type decides: the result is a float, or what that type has.
#define ACLSIM_OF_TWO_(op)                                                         \
  template <typename T, std::enable_if_t<std::is_same<T, fp16_t>::value, int> = 0> \
  fp16_t operator op(const T& a, const T& b) {                                     \
    return fp16_t(static_cast<float>(a) op static_cast<float>(b));                 \
  }
ACLSIM_OF_TWO_(+)
ACLSIM_OF_TWO_(-)
ACLSIM_OF_TWO_(*)
ACLSIM_OF_TWO_(/)
#undef ACLSIM_OF_TWO_

}  // namespace op
