// SPDX-License-Identifier: Apache-2.0
// Element-wise vector instructions. A new one is a line in a table below and a body in src/device/lanes.cpp.
#pragma once

#include "ascendc/device_registers.h"
#include "ascendc/tensor.h"

namespace aclsim {

// Ascend 950 only.
ACLSIM_DEVICE_API void VecNeg(const Ub& dst, const Ub& src, const VecCtl& ctl);
ACLSIM_DEVICE_API void VecPrelu(const Ub& dst, const Ub& src0, const Ub& src1, const VecCtl& ctl);

}  // namespace aclsim

namespace AscendC {

namespace detail {

inline aclsim::VecCtl Binary(aclsim::VecCtl ctl, const BinaryRepeatParams& p) {
  return aclsim::Strided(ctl, p.dstBlkStride, p.src0BlkStride, p.src1BlkStride, p.dstRepStride,
                         p.src0RepStride, p.src1RepStride);
}
inline aclsim::VecCtl Unary(aclsim::VecCtl ctl, const UnaryRepeatParams& p) {
  return aclsim::Strided(ctl, p.dstBlkStride, p.srcBlkStride, 1, p.dstRepStride, p.srcRepStride, 8);
}
template <typename T>
aclsim::ScalarValue Scalar(T value) {
  aclsim::ScalarValue scalar;
  if constexpr (std::is_integral_v<T>) {
    scalar.i = static_cast<int64_t>(value);
  } else {
    scalar.f = static_cast<double>(static_cast<float>(value));
  }
  return scalar;
}

}  // namespace detail

// The three forms of a two-source instruction: bit mask, lane count per repeat, first n elements. The exact parameter types
// matter: public kernels pass these functions as template arguments.
#define ACLSIM_BINARY_FORMS(Name, op)                                                              \
  template <typename T, bool isSetMask = true>                                                     \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
            uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {   \
    aclsim::VecBinary(op, dst, src0, src1,                                                         \
                      detail::Binary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                                \
  template <typename T, bool isSetMask = true>                                                     \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
            uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {     \
    aclsim::VecBinary(op, dst, src0, src1,                                                         \
                      detail::Binary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                                \
  template <typename T>                                                                            \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,     \
            const int32_t& count) {                                                                \
    aclsim::VecBinary(op, dst, src0, src1, aclsim::CountCtl(count));                               \
  }

#define ACLSIM_BINARY(Name, ...) ACLSIM_BINARY_FORMS(Name, aclsim::Op2::k##Name)
#define ACLSIM_BINARY_OWN_FORMS(...)
#define ACLSIM_BINARY_ALIAS(Name, Op) ACLSIM_BINARY_FORMS(Name, aclsim::Op2::k##Op)
#include "ascendc/instructions.def"
#undef ACLSIM_BINARY_FORMS

#define ACLSIM_UNARY_FORMS(Name, op)                                                             \
  template <typename T, bool isSetMask = true>                                                   \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask[],               \
            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                   \
    aclsim::VecUnary(op, dst, src,                                                               \
                     detail::Unary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                              \
  template <typename T, bool isSetMask = true>                                                   \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask,                 \
            const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {                   \
    aclsim::VecUnary(op, dst, src,                                                               \
                     detail::Unary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                              \
  template <typename T>                                                                          \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count) {        \
    aclsim::VecUnary(op, dst, src, aclsim::CountCtl(count));                                     \
  }

#define ACLSIM_UNARY(Name, ...) ACLSIM_UNARY_FORMS(Name, aclsim::Op1::k##Name)
#define ACLSIM_UNARY_OWN_FORMS(...)
#include "ascendc/instructions.def"
#undef ACLSIM_UNARY_FORMS

#define ACLSIM_SCALAR_FORMS(Name, op)                                                             \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,           \
            uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {   \
    aclsim::VecScalar(op, dst, src, detail::Scalar(scalarValue),                                  \
                      detail::Unary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,           \
            uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {     \
    aclsim::VecScalar(op, dst, src, detail::Scalar(scalarValue),                                  \
                      detail::Unary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,           \
            const int32_t& count) {                                                               \
    aclsim::VecScalar(op, dst, src, detail::Scalar(scalarValue),                                  \
                      aclsim::CountCtl(isSetMask, count));                                        \
  }

#define ACLSIM_SCALAR(Name, ...) ACLSIM_SCALAR_FORMS(Name, aclsim::OpScalar::k##Name)
#define ACLSIM_SCALAR_OWN_FORMS(...)
#include "ascendc/instructions.def"
#undef ACLSIM_SCALAR_FORMS

#if __NPU_ARCH__ == 3510
template <typename T>
void Neg(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  aclsim::VecNeg(dst, src, aclsim::CountCtl(count));
}
// dst = src0 where it is positive, else src0 * src1
template <typename T>
void Prelu(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
           const uint32_t count) {
  aclsim::VecPrelu(dst, src0, src1, aclsim::CountCtl(count));
}
#endif

// Arithmetic for signed types, logical otherwise; roundEn adds back the last bit shifted out (signed types only).
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,
                uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                bool roundEn = false) {
  aclsim::VecScalar(roundEn ? aclsim::OpScalar::kShiftRightRound : aclsim::OpScalar::kShiftRight,
                    dst, src, detail::Scalar(scalarValue),
                    detail::Unary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,
                uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                bool roundEn = false) {
  aclsim::VecScalar(roundEn ? aclsim::OpScalar::kShiftRightRound : aclsim::OpScalar::kShiftRight,
                    dst, src, detail::Scalar(scalarValue),
                    detail::Unary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, bool isSetMask = true>
void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,
                const int32_t& count) {
  aclsim::VecScalar(aclsim::OpScalar::kShiftRight, dst, src, detail::Scalar(scalarValue),
                    aclsim::CountCtl(isSetMask, count));
}

// dst += src * scalar
template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue,
          const int32_t& count) {
  aclsim::VecScalar(aclsim::OpScalar::kAxpy, dst, src, detail::Scalar(scalarValue),
                    aclsim::CountCtl(count));
}
template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue, uint64_t mask,
          const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
  aclsim::VecScalar(aclsim::OpScalar::kAxpy, dst, src, detail::Scalar(scalarValue),
                    detail::Unary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue,
          uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
  aclsim::VecScalar(aclsim::OpScalar::kAxpy, dst, src, detail::Scalar(scalarValue),
                    detail::Unary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}
// dst += src0 * src1
template <typename T, typename U>
void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
               const int32_t& count) {
  aclsim::VecBinary(aclsim::Op2::kMulAddDst, dst, src0, src1, aclsim::CountCtl(count));
}
template <typename T, typename U, bool isSetMask = true>
void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
               uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  aclsim::VecBinary(aclsim::Op2::kMulAddDst, dst, src0, src1,
                    detail::Binary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}

template <typename T, typename U, bool isSetMask = true>
void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,
               const uint64_t mask[], const uint8_t repeatTime,
               const BinaryRepeatParams& repeatParams) {
  aclsim::VecBinary(aclsim::Op2::kMulAddDst, dst, src0, src1,
                    detail::Binary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}

namespace detail {
template <typename T, typename U>
void CastTo(const LocalTensor<T>& dst, const LocalTensor<U>& src, RoundMode mode,
            const aclsim::VecCtl& ctl) {
  const auto round = static_cast<aclsim::Round>(mode);
  if constexpr (std::is_same_v<T, int4b_t>) {
    aclsim::VecCastToInt4(dst, src, round, ctl);
  } else if constexpr (std::is_same_v<U, int4b_t>) {
    aclsim::VecCastFromInt4(dst, src, round, ctl);
  } else {
    aclsim::VecCast(dst, src, round, ctl);
  }
}
}  // namespace detail

// Strides and mask count by the wider of the two types.
template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          const uint64_t mask[], const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
  detail::CastTo(dst, src, roundMode,
                 detail::Unary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          const uint64_t mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams) {
  detail::CastTo(dst, src, roundMode,
                 detail::Unary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, typename U>
void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
          const uint32_t count) {
  detail::CastTo(dst, src, roundMode, aclsim::CountCtl(count));
}

}  // namespace AscendC
