// SPDX-License-Identifier: Apache-2.0
// Compare and Select: results and selectors are bits, lowest first; and the form that selects by whole elements.
#pragma once

#include "ascendc/vec_arith.h"

namespace AscendC {

template <typename T, typename U>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE cmpMode, uint32_t count) {
  const aclsim::Ub second = src1;
  aclsim::VecCompare(static_cast<aclsim::Compare>(cmpMode), dst, src0, &second, {},
                     aclsim::CountCtl(count));
}
template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE cmpMode, const uint64_t mask[], uint8_t repeatTime,
             const BinaryRepeatParams& repeatParams) {
  const aclsim::Ub second = src1;
  aclsim::VecCompare(static_cast<aclsim::Compare>(cmpMode), dst, src0, &second, {},
                     detail::Binary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
             CMPMODE cmpMode, const uint64_t mask, uint8_t repeatTime,
             const BinaryRepeatParams& repeatParams) {
  const aclsim::Ub second = src1;
  aclsim::VecCompare(static_cast<aclsim::Compare>(cmpMode), dst, src0, &second, {},
                     detail::Binary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}

// One instruction has an old and a new name.
#define ACLSIM_COMPARE_SCALAR(Name)                                                                \
  template <typename T, typename U>                                                                \
  void Name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,             \
            CMPMODE cmpMode, uint32_t count) {                                                     \
    aclsim::VecCompare(static_cast<aclsim::Compare>(cmpMode), dst, src0, nullptr,                  \
                       detail::Scalar(src1Scalar), aclsim::CountCtl(count));                       \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  void Name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,             \
            CMPMODE cmpMode, const uint64_t mask[], uint8_t repeatTime,                            \
            const UnaryRepeatParams& repeatParams) {                                               \
    aclsim::VecCompare(static_cast<aclsim::Compare>(cmpMode), dst, src0, nullptr,                  \
                       detail::Scalar(src1Scalar),                                                 \
                       detail::Unary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }                                                                                                \
  template <typename T, typename U, bool isSetMask = true>                                         \
  void Name(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,             \
            CMPMODE cmpMode, const uint64_t mask, uint8_t repeatTime,                              \
            const UnaryRepeatParams& repeatParams) {                                               \
    aclsim::VecCompare(static_cast<aclsim::Compare>(cmpMode), dst, src0, nullptr,                  \
                       detail::Scalar(src1Scalar),                                                 \
                       detail::Unary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams)); \
  }
ACLSIM_COMPARE_SCALAR(CompareScalar)
ACLSIM_COMPARE_SCALAR(Compares)
#undef ACLSIM_COMPARE_SCALAR

namespace detail {
template <typename T, typename U>
void SelectTensors(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE selMode,
                   const aclsim::VecCtl& ctl) {
  const aclsim::Ub second = src1;
  aclsim::VecSelect(dst, selMask, src0, &second, {}, selMode == SELMODE::VSEL_CMPMASK_SPR, ctl);
}
template <typename T, typename U>
void SelectScalar(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                  const LocalTensor<T>& src0, T src1, SELMODE selMode, const aclsim::VecCtl& ctl) {
  aclsim::VecSelect(dst, selMask, src0, nullptr, Scalar(src1), selMode == SELMODE::VSEL_CMPMASK_SPR,
                    ctl);
}
}  // namespace detail

// Modes 0 and 2: two tensors.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint32_t count) {
  detail::SelectTensors(dst, selMask, src0, src1, selMode, aclsim::CountCtl(count));
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask[], uint8_t repeatTime,
            const BinaryRepeatParams& repeatParams) {
  detail::SelectTensors(dst, selMask, src0, src1, selMode,
                        detail::Binary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            const LocalTensor<T>& src1, SELMODE selMode, uint64_t mask, uint8_t repeatTime,
            const BinaryRepeatParams& repeatParams) {
  detail::SelectTensors(dst, selMask, src0, src1, selMode,
                        detail::Binary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}
// Mode 1: a tensor and a scalar.
template <typename T, typename U>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE selMode, uint32_t count) {
  detail::SelectScalar(dst, selMask, src0, src1, selMode, aclsim::CountCtl(count));
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE selMode, uint64_t mask[], uint8_t repeatTime,
            const BinaryRepeatParams& repeatParams) {
  detail::SelectScalar(dst, selMask, src0, src1, selMode,
                       detail::Binary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));
}
template <typename T, typename U, bool isSetMask = true>
void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
            T src1, SELMODE selMode, uint64_t mask, uint8_t repeatTime,
            const BinaryRepeatParams& repeatParams) {
  detail::SelectScalar(dst, selMask, src0, src1, selMode,
                       detail::Binary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));
}

struct SelectWithBytesMaskShapeInfo {
  SelectWithBytesMaskShapeInfo() {}
  uint32_t firstAxis = 0;
  uint32_t srcLastAxis = 0;
  uint32_t maskLastAxis = 0;
};

namespace detail {
template <typename T, typename U>
void SelectBytes(const LocalTensor<T>& dst, const LocalTensor<T>& src, T scalar,
                 const LocalTensor<U>& mask, const LocalTensor<uint8_t>& work,
                 const SelectWithBytesMaskShapeInfo& info, bool scalarWhenSet) {
  aclsim::SelectBytesCtl ctl;
  ctl.rows = info.firstAxis;
  ctl.columns = info.srcLastAxis;
  ctl.maskColumns = info.maskLastAxis;
  ctl.srcSize = src.GetSize();
  ctl.maskSize = mask.GetSize();
  ctl.workBytes = work.GetSize();
  ctl.scalarWhenSet = scalarWhenSet;
  aclsim::VecSelectBytes(dst, src, Scalar(scalar), mask, work, ctl);
}
}  // namespace detail

// A mask element that is not 0 takes src1, one that is 0 takes src0; either may be the scalar.
#define ACLSIM_SELECT_BYTES(Name)                                                    \
  template <typename T, typename U, bool isReuseMask = true>                         \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1,           \
            const LocalTensor<U>& mask, const LocalTensor<uint8_t>& sharedTmpBuffer, \
            const SelectWithBytesMaskShapeInfo& info) {                              \
    detail::SelectBytes(dst, src0, src1, mask, sharedTmpBuffer, info, true);         \
  }                                                                                  \
  template <typename T, typename U, bool isReuseMask = true>                         \
  void Name(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1,           \
            const LocalTensor<U>& mask, const LocalTensor<uint8_t>& sharedTmpBuffer, \
            const SelectWithBytesMaskShapeInfo& info) {                              \
    detail::SelectBytes(dst, src1, src0, mask, sharedTmpBuffer, info, false);        \
  }
ACLSIM_SELECT_BYTES(Select)
ACLSIM_SELECT_BYTES(SelectWithBytesMask)
#undef ACLSIM_SELECT_BYTES

struct DropOutShapeInfo {
  DropOutShapeInfo() {}
  uint32_t firstAxis = 0;
  uint32_t srcLastAxis = 0;
  uint32_t maskLastAxis = 0;  // bytes
};

// dst = mask ? src / keepProb : 0, with the product by 1 / keepProb in T. By dropOutMode the mask has a byte for each element or a bit, and
// rows with padding (misaligned) or none; mode 0 tells that from the axes.
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& mask,
             const LocalTensor<uint8_t>& sharedTmpBuffer, const float keepProb,
             const DropOutShapeInfo& info) {
  static_assert(dropOutMode <= DROPOUT_MODE_BIT_MISALIGN, "DropOut: dropOutMode is 0 to 4");
  uint32_t mode = dropOutMode;
  if (mode == 0) {
    mode = info.srcLastAxis < info.maskLastAxis                        ? DROPOUT_MODE_BYTE_MISALIGN
           : info.srcLastAxis == info.maskLastAxis                     ? DROPOUT_MODE_BYTE_ALIGN
           : info.srcLastAxis == info.maskLastAxis * ONE_BYTE_BIT_SIZE ? DROPOUT_MODE_BIT_ALIGN
                                                                       : DROPOUT_MODE_BIT_MISALIGN;
  }
  aclsim::DropOutCtl ctl;
  ctl.rows = info.firstAxis;
  ctl.columns = info.srcLastAxis;
  ctl.maskColumns = info.maskLastAxis;
  ctl.workBytes = sharedTmpBuffer.GetSize();
  ctl.keepProb = keepProb;
  ctl.bits = mode == DROPOUT_MODE_BIT_ALIGN || mode == DROPOUT_MODE_BIT_MISALIGN;
  ctl.contiguous = mode == DROPOUT_MODE_BYTE_ALIGN || mode == DROPOUT_MODE_BIT_ALIGN;
  aclsim::VecDropOut(dst, src, mask, sharedTmpBuffer, ctl);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& mask,
             const float keepProb, const DropOutShapeInfo& info) {
  DropOut<T, isInitBitMode, dropOutMode>(dst, src, mask, LocalTensor<uint8_t>(), keepProb, info);
}

}  // namespace AscendC
