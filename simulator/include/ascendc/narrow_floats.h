// SPDX-License-Identifier: Apache-2.0
// The floating-point types of Ascend 950 with 8 and 4 bits, as storage, and what their bits are worth.
#pragma once

#include <cstdint>

#include "ascendc/half.h"

struct fp8_e4m3fn_t {
  uint8_t bits;
};
struct fp8_e5m2_t {
  uint8_t bits;
};
struct hifloat8_t {
  uint8_t bits;
};
struct fp4x2_e2m1_t {
  uint8_t bits;
};
struct fp4x2_e1m2_t {
  uint8_t bits;
};
struct fp8_e8m0_t {
  uint8_t bits;
};

// The names that CANN's compiler has for them.
using float8_e4m3_t = fp8_e4m3fn_t;
using float8_e5m2_t = fp8_e5m2_t;
using float8_e8m0_t = fp8_e8m0_t;
using float4_e2m1x2_t = fp4x2_e2m1_t;
using float4_e1m2x2_t = fp4x2_e1m2_t;

namespace aclsim {

// 2 to the power of an exponent that float has, denormals left out.
constexpr float PowerOfTwo(int exponent) {
  return FloatOf(static_cast<uint32_t>(exponent + 127) << 23);
}

// A number with a sign, so many bits of exponent and of mantissa, and denormals.
constexpr float SmallFloat(uint32_t bits, int exponentBits, int mantissaBits) {
  const int bias = (1 << (exponentBits - 1)) - 1;
  const uint32_t fraction = bits & ((1u << mantissaBits) - 1);
  const int exponent = static_cast<int>(bits >> mantissaBits & ((1u << exponentBits) - 1));
  const uint32_t whole = exponent == 0 ? fraction : fraction | 1u << mantissaBits;
  const float value =
      static_cast<float>(whole) * PowerOfTwo((exponent == 0 ? 1 : exponent) - bias - mantissaBits);
  return (bits >> (exponentBits + mantissaBits) & 1) != 0 ? -value : value;
}

constexpr float kQuietNan = FloatOf(0x7FC00000u);
constexpr float kInfinity = FloatOf(0x7F800000u);

// No infinity; all ones are NaN.
constexpr float E4m3ToFloat(uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? kQuietNan : SmallFloat(bits, 4, 3);
}
constexpr float E5m2ToFloat(uint8_t bits) {
  if ((bits & 0x7F) < 0x7C) {
    return SmallFloat(bits, 5, 2);
  }
  return (bits & 3) != 0 ? kQuietNan : (bits & 0x80) != 0 ? -kInfinity : kInfinity;
}
constexpr float E2m1ToFloat(uint8_t bits) { return SmallFloat(bits & 15, 2, 1); }
// Steps of a quarter up to 1.75: the bias is 1.
constexpr float E1m2ToFloat(uint8_t bits) { return 0.5f * SmallFloat(bits & 15, 1, 2); }
// A power of two; 255 is NaN, and 0 stands for 2^-127, which float has as a denormal.
constexpr float E8m0ToFloat(uint8_t bits) {
  return bits == 255 ? kQuietNan : bits == 0 ? FloatOf(0x00400000u) : PowerOfTwo(bits - 127);
}

// HiFloat8: behind the sign a prefix says how many bits the exponent has, 4 to 0, or that there is none (a power of two from 2^-22 on). An
// exponent is its own sign and a magnitude whose first bit, 1, is left out; what is left of the byte is the mantissa.
constexpr float Hif8ToFloat(uint8_t bits) {
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  const uint32_t rest = bits & 0x7Fu;
  if (rest < 8) {
    return rest == 0 ? (sign < 0 ? kQuietNan : 0.0f)
                     : sign * PowerOfTwo(static_cast<int>(rest) - 23);
  }
  const int exponentBits = rest >= 0x60 ? 4 : rest >= 0x40 ? 3 : rest >= 0x20 ? 2 : rest >= 0x10;
  const int mantissaBits = exponentBits == 4 ? 1 : exponentBits == 3 ? 2 : 3;
  int exponent = 0;
  if (exponentBits > 0) {
    const uint32_t field = rest >> mantissaBits & ((1u << exponentBits) - 1);
    const uint32_t low = field & ((1u << (exponentBits - 1)) - 1);
    const int magnitude = static_cast<int>(low | 1u << (exponentBits - 1));
    exponent = (field >> (exponentBits - 1)) != 0 ? -magnitude : magnitude;
  }
  const uint32_t fraction = rest & ((1u << mantissaBits) - 1);
  if (rest == 0x6F) {
    return sign * kInfinity;
  }
  return sign * static_cast<float>(fraction | 1u << mantissaBits) *
         PowerOfTwo(exponent - mantissaBits);
}

// The code of a magnitude, by a search among the codes up to `largest`, whose values ascend. Ties go to the even code.
template <float (*Value)(uint8_t)>
constexpr uint8_t NearestCode(float magnitude, uint8_t largest) {
  uint8_t low = 0, high = largest;
  while (low < high) {
    const auto middle = static_cast<uint8_t>((low + high + 1) / 2);
    if (Value(middle) <= magnitude) {
      low = middle;
    } else {
      high = static_cast<uint8_t>(middle - 1);
    }
  }
  if (low == largest) {
    return low;
  }
  const auto next = static_cast<uint8_t>(low + 1);
  const float below = magnitude - Value(low), above = Value(next) - magnitude;
  return above < below || (above == below && low % 2 != 0) ? next : low;
}

// Beyond the largest number: that number, as results of instructions saturate.
constexpr uint8_t FloatToE4m3(float value) {
  const auto sign = static_cast<uint8_t>(BitsOf(value) >> 24 & 0x80);
  const float magnitude = value < 0 ? -value : value;
  return value != value ? 0x7F
                        : static_cast<uint8_t>(sign | NearestCode<E4m3ToFloat>(magnitude, 0x7E));
}
constexpr uint8_t FloatToE5m2(float value) {
  const auto sign = static_cast<uint8_t>(BitsOf(value) >> 24 & 0x80);
  const float magnitude = value < 0 ? -value : value;
  return value != value ? 0x7F
                        : static_cast<uint8_t>(sign | NearestCode<E5m2ToFloat>(magnitude, 0x7B));
}

// Ties go away from 0.
constexpr uint8_t FloatToHif8(float value) {
  constexpr int kMostExponent = 15, kLeastNormal = -15, kLeast = -22;
  const auto sign = static_cast<uint8_t>(BitsOf(value) >> 24 & 0x80);
  if (value != value) {
    return 0x80;
  }
  const uint32_t bits = BitsOf(value) & 0x7FFFFFFFu;
  const auto mantissaBits = [](int exponent) {
    const int size = exponent < 0 ? -exponent : exponent;
    return exponent < kLeastNormal ? 0 : size < 4 ? 3 : size < 8 ? 2 : 1;
  };
  int exponent = static_cast<int>(bits >> 23) - 127;
  if (exponent < kLeast - 1) {
    return 0;  // there is no negative 0
  }
  if (exponent < kLeast) {
    return sign | 1;
  }
  const uint32_t half = 1u << (22 - mantissaBits(exponent));
  const uint32_t rounded = bits + half;
  exponent = static_cast<int>(rounded >> 23) - 127;
  if (exponent > kMostExponent || (exponent == kMostExponent && (rounded >> 22 & 1) != 0)) {
    return sign | 0x6E;
  }
  if (exponent < kLeastNormal) {
    return static_cast<uint8_t>(sign | (exponent + 23));
  }
  const int kept = mantissaBits(exponent);
  const uint32_t fraction = rounded >> (23 - kept) & ((1u << kept) - 1);
  const auto size = static_cast<uint32_t>(exponent < 0 ? -exponent : exponent);
  const int exponentBits = size >= 8 ? 4 : size >= 4 ? 3 : size >= 2 ? 2 : size;
  const uint32_t prefix = exponentBits >= 2   ? 0x20u * static_cast<uint32_t>(exponentBits - 1)
                          : exponentBits == 1 ? 0x10u
                                              : 0x08u;
  uint32_t field = 0;
  if (exponentBits > 0) {
    const uint32_t low = size & ((1u << (exponentBits - 1)) - 1);
    field = (exponent < 0 ? 1u << (exponentBits - 1) : 0) | low;
  }
  return static_cast<uint8_t>(sign | prefix | field << kept | fraction);
}

}  // namespace aclsim
