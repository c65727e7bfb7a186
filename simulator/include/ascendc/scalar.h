// SPDX-License-Identifier: Apache-2.0
// Scalar helpers: bits, conversions, mask utilities.
#pragma once

#include "ascendc/sync.h"
#include "ascendc/vec_gather.h"

namespace AscendC {

// --- bits -----------------------------------------------------------------------------------------------------------------
template <int countValue>
int64_t GetBitCount(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "a bit is 0 or 1");
  const int64_t ones = __builtin_popcountll(valueIn);
  return countValue == 1 ? ones : 64 - ones;
}
template <int countValue>
int64_t ScalarGetCountOfValue(uint64_t valueIn) {
  return GetBitCount<countValue>(valueIn);
}
inline int64_t CountLeadingZero(uint64_t valueIn) {
  return valueIn == 0 ? 64 : __builtin_clzll(valueIn);
}
inline int64_t ScalarCountLeadingZero(uint64_t valueIn) { return CountLeadingZero(valueIn); }
// Bits below the sign that equal it, from the top.
inline int64_t CountBitsCntSameAsSignBit(int64_t valueIn) { return __builtin_clrsbll(valueIn); }
// The lowest bit of this value, or -1.
template <int countValue>
int64_t GetSFFValue(uint64_t valueIn) {
  static_assert(countValue == 0 || countValue == 1, "a bit is 0 or 1");
  return __builtin_ffsll(static_cast<long long>(countValue == 1 ? valueIn : ~valueIn)) - 1;
}
template <int countValue>
int64_t ScalarGetSFFValue(uint64_t valueIn) {
  return GetSFFValue<countValue>(valueIn);
}
// The bits of a scalar, zero-extended, or a value made of such bits.
template <typename T, typename U = uint64_t>
U GetScalarBitcodeValue(T value) {
  U bits{};
  __builtin_memcpy(&bits, &value, sizeof(T) < sizeof(U) ? sizeof(T) : sizeof(U));
  return bits;
}

// --- conversions ----------------------------------------------------------------------------------------------------------
namespace detail {
// To a whole number; a value halfway between two goes to the even one for RINT.
template <RoundMode mode>
float RoundScalar(float value) {
  static_assert(mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_FLOOR ||
                    mode == RoundMode::CAST_CEIL || mode == RoundMode::CAST_ROUND ||
                    mode == RoundMode::CAST_TRUNC,
                "ScalarCast from float to int32_t has CAST_RINT, FLOOR, CEIL, ROUND and TRUNC");
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return __builtin_floorf(value);
    case RoundMode::CAST_CEIL:
      return __builtin_ceilf(value);
    case RoundMode::CAST_ROUND:
      return __builtin_roundf(value);
    case RoundMode::CAST_TRUNC:
      return __builtin_truncf(value);
    default:
      return __builtin_rintf(value);
  }
}
// Bits that half lacks, or'ed into its last one.
inline half ToHalfOdd(float value) {
  half result(value);
  const float back = result;
  if (back == value || value != value) {
    return result;
  }
  const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  result.bits = static_cast<uint16_t>((result.bits - (away ? 1 : 0)) | 1);
  return result;
}
}  // namespace detail

// float to int32_t by the mode's rounding, saturated; float to half with CAST_ODD.
template <typename T, typename U, RoundMode roundMode>
U ScalarCast(T valueIn) {
  static_assert(std::is_same_v<T, float> && (std::is_same_v<U, int32_t> || std::is_same_v<U, half>),
                "ScalarCast converts float to int32_t or half");
  if constexpr (std::is_same_v<U, half>) {
    static_assert(roundMode == RoundMode::CAST_ODD, "ScalarCast from float to half is CAST_ODD");
    return detail::ToHalfOdd(valueIn);
  } else {
    const float whole = detail::RoundScalar<roundMode>(valueIn);
    return whole != whole ? 0
                          : (whole >= 2147483648.0f
                                 ? INT32_MAX
                                 : (whole <= -2147483648.0f ? INT32_MIN : static_cast<U>(whole)));
  }
}
template <typename T, typename U, RoundMode roundMode>
U Cast(T valueIn) {
  return ScalarCast<T, U, roundMode>(valueIn);
}
inline bfloat16_t Cast(const float& value) { return bfloat16_t(value); }
inline float Cast(const bfloat16_t& value) { return static_cast<float>(value); }

// --- registers ------------------------------------------------------------------------------------------------------------
class AscendCUtils {
 public:
  static int32_t GetBitSize(int32_t bytes) { return bytes * 8; }
  static int32_t GetC0Size() { return DEFAULT_C0_SIZE; }
  // Elements in a block.
  static int32_t GetC0Count(const int32_t dtypeSize) {
    return static_cast<int32_t>(ONE_BLK_SIZE) / dtypeSize;
  }
  static int32_t GetDefaultBlockNum() { return DEFAULT_BLK_NUM; }
  static void SetOverflow(uint64_t ctrlValue) { aclsim::SetOverflow(ctrlValue); }
  static int64_t GetRsvdCnt() { return static_cast<int64_t>(aclsim::GatheredCount()); }
  template <typename T, bool isSetMask = true>
  static void SetMask(const uint64_t& maskHigh, const uint64_t& maskLow) {
    if (isSetMask) {
      SetVectorMask<T>(maskHigh, maskLow);
    }
  }
  template <typename T, bool isSetMask = true>
  static void SetMask(int32_t len) {
    if (isSetMask) {
      SetVectorMask<T>(len);
    }
  }
  static void ResetMask() { AscendC::ResetMask(); }
  template <typename T>
  static void SetMaskCount() {
    AscendC::SetMaskCount();
  }
  template <typename T>
  static void SetMaskNorm() {
    AscendC::SetMaskNorm();
  }
};

}  // namespace AscendC
