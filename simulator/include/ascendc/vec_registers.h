// SPDX-License-Identifier: Apache-2.0
// Instructions around registers, and the newer names of reductions.
#pragma once

#include "ascendc/data_copy.h"
#include "ascendc/device_registers.h"
#include "ascendc/vec_cmpsel.h"
#include "ascendc/vec_reduce.h"

namespace AscendC {

// One repeat, into the comparison register.
template <typename T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
             const uint64_t mask[], const BinaryRepeatParams& repeatParams) {
  aclsim::VecCompareRegister(static_cast<aclsim::Compare>(cmpMode), src0, src1,
                             detail::Binary(aclsim::BitsCtl(isSetMask, mask, 1), repeatParams));
}
template <typename T, bool isSetMask = true>
void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
             const uint64_t mask, const BinaryRepeatParams& repeatParams) {
  aclsim::VecCompareRegister(static_cast<aclsim::Compare>(cmpMode), src0, src1,
                             detail::Binary(aclsim::MaskCtl(isSetMask, mask, 1), repeatParams));
}
// By the bits in the comparison register, on the lanes of the mask register.
template <typename T, SELMODE selMode>
void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
            uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {
  static_assert(selMode == SELMODE::VSEL_CMPMASK_SPR,
                "Select without a mask is in this simulator with VSEL_CMPMASK_SPR only");
  aclsim::VecSelectRegister(dst, src0, src1,
                            detail::Binary(aclsim::MaskCtl(false, 0, repeatTime), repeatParams));
}
template <typename T>
void SetCmpMask(const LocalTensor<T>& src) {
  aclsim::LoadCmpMask(src);
}
template <typename T>
void GetCmpMask(const LocalTensor<T>& dst) {
  aclsim::StoreCmpMask(dst);
}

// The result of the last ReduceSum, as bits or as a value.
inline int64_t GetAccVal() { return aclsim::ReducedSum(); }
template <typename T>
T GetAccVal() {
  const uint32_t bits = aclsim::ReducedSum();
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T>
T GetReduceRepeatSumSpr() {
  return GetAccVal<T>();
}

// Returns what the last ReduceMax or ReduceMin found, the index as bits of the type.
template <typename T>
void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
  uint32_t bits[2];
  aclsim::ReducedExtreme(bits);
  __builtin_memcpy(&maxMinValue, &bits[0], sizeof(T));
  __builtin_memcpy(&maxMinIndex, &bits[1], sizeof(T));
}
template <typename T>
void GetReduceRepeatMaxMinSpr(T& maxMinValue) {
  T index;
  GetReduceRepeatMaxMinSpr(maxMinValue, index);
}
template <typename T>
void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
  GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex);
}
template <typename T>
void GetReduceMaxMinCount(T& maxMinValue) {
  GetReduceRepeatMaxMinSpr(maxMinValue);
}

// The factor of casts from int32_t to half.
inline void SetDeqScale(half scale) {
  aclsim::SetDequantScale(scale);
  ACLSIM_KEEP_FRAME();
}
// A binary instruction whose result is converted at once, rounded to the nearest and saturated.
#define ACLSIM_BINARY_CAST(Name, op)                                                             \
  template <typename T, typename U, bool isSetMask = true>                                       \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,   \
            uint64_t mask, const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {   \
    aclsim::VecBinaryCast(                                                                       \
        op, dst, src0, src1,                                                                     \
        detail::Binary(aclsim::MaskCtl(isSetMask, mask, repeatTime), repeatParams));             \
  }                                                                                              \
  template <typename T, typename U, bool isSetMask = true>                                       \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,   \
            uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams) { \
    aclsim::VecBinaryCast(                                                                       \
        op, dst, src0, src1,                                                                     \
        detail::Binary(aclsim::BitsCtl(isSetMask, mask, repeatTime), repeatParams));             \
  }                                                                                              \
  template <typename T, typename U>                                                              \
  void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,   \
            const uint32_t count) {                                                              \
    aclsim::VecBinaryCast(op, dst, src0, src1, aclsim::CountCtl(count));                         \
  }
ACLSIM_BINARY_CAST(AddReluCast, aclsim::BinaryCast::kAddRelu)
ACLSIM_BINARY_CAST(SubReluCast, aclsim::BinaryCast::kSubRelu)
ACLSIM_BINARY_CAST(MulCast, aclsim::BinaryCast::kMul)
ACLSIM_BINARY_CAST(AddDeqRelu, aclsim::BinaryCast::kAddDeqRelu)
#undef ACLSIM_BINARY_CAST

// DataCopyPad fills with this value when isPad is false.
template <typename T, TPosition pos = TPosition::MAX>
void SetPadValue(T paddingValue) {
  aclsim::SetCopyPadValue(detail::BitsOfElement(paddingValue));
  ACLSIM_KEEP_FRAME();
}

// --- newer names of reductions ----------------------------------------------------------------------------------------------
enum class ReduceType : uint8_t { SUM, MAX, MIN };

namespace detail {
constexpr aclsim::ReduceOp ReduceOpOf(ReduceType type) {
  return type == ReduceType::SUM
             ? aclsim::ReduceOp::kSum
             : (type == ReduceType::MAX ? aclsim::ReduceOp::kMax : aclsim::ReduceOp::kMin);
}
}  // namespace detail

template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t mask,
                  const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                  const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  aclsim::VecWholeReduce(detail::ReduceOpOf(reduceType), dst, src,
                         detail::Reduce(aclsim::MaskCtl(isSetMask, uint64_t(mask), repeatTime),
                                        dstRepStride, srcBlkStride, srcRepStride),
                         static_cast<uint8_t>(order));
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint64_t mask[],
                  const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                  const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  aclsim::VecWholeReduce(detail::ReduceOpOf(reduceType), dst, src,
                         detail::Reduce(aclsim::BitsCtl(isSetMask, mask, repeatTime), dstRepStride,
                                        srcBlkStride, srcRepStride),
                         static_cast<uint8_t>(order));
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t mask,
                     const int32_t repeatTime, const int32_t dstRepStride,
                     const int32_t srcBlkStride, const int32_t srcRepStride) {
  aclsim::VecBlockReduce(detail::ReduceOpOf(reduceType), dst, src,
                         detail::Reduce(aclsim::MaskCtl(isSetMask, uint64_t(mask), repeatTime),
                                        dstRepStride, srcBlkStride, srcRepStride));
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint64_t mask[],
                     const int32_t repeatTime, const int32_t dstRepStride,
                     const int32_t srcBlkStride, const int32_t srcRepStride) {
  aclsim::VecBlockReduce(detail::ReduceOpOf(reduceType), dst, src,
                         detail::Reduce(aclsim::BitsCtl(isSetMask, mask, repeatTime), dstRepStride,
                                        srcBlkStride, srcRepStride));
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, const int32_t mask,
                    const int32_t repeatTime, const int32_t dstRepStride,
                    const int32_t srcBlkStride, const int32_t srcRepStride) {
  static_assert(reduceType == ReduceType::SUM, "ReducePairElem sums only");
  PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint64_t mask[],
                    const int32_t repeatTime, const int32_t dstRepStride,
                    const int32_t srcBlkStride, const int32_t srcRepStride) {
  static_assert(reduceType == ReduceType::SUM, "ReducePairElem sums only");
  PairReduceSum<T, isSetMask>(dst, src, repeatTime, mask, dstRepStride, srcBlkStride, srcRepStride);
}

}  // namespace AscendC
