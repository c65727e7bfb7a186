// SPDX-License-Identifier: Apache-2.0
// Instructions that fill, repeat or move lanes: Duplicate, Brcb, Copy, TransDataTo5HD.
#pragma once

#include "ascendc/vec_arith.h"

namespace AscendC {

template <typename T>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count) {
  aclsim::VecDuplicate(dst, detail::Scalar(scalarValue), aclsim::CountCtl(count));
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask,
               const uint8_t repeatTime, const uint16_t dstBlockStride,
               const uint8_t dstRepeatStride) {
  aclsim::VecDuplicate(dst, detail::Scalar(scalarValue),
                       aclsim::Strided(aclsim::MaskCtl(isSetMask, mask, repeatTime), dstBlockStride,
                                       1, 1, dstRepeatStride, 8, 8));
}
template <typename T, bool isSetMask = true>
void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, uint64_t mask[],
               const uint8_t repeatTime, const uint16_t dstBlockStride,
               const uint8_t dstRepeatStride) {
  aclsim::VecDuplicate(dst, detail::Scalar(scalarValue),
                       aclsim::Strided(aclsim::BitsCtl(isSetMask, mask, repeatTime), dstBlockStride,
                                       1, 1, dstRepeatStride, 8, 8));
}

// Each of 8 source elements per repeat fills one 32-byte block.
template <typename T>
void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t repeatTime,
          const BrcbRepeatParams& repeatParams) {
  aclsim::VecBrcb(dst, src0, repeatTime, repeatParams.dstBlkStride, repeatParams.dstRepStride);
}

template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask,
          const uint8_t repeatTime, const CopyRepeatParams& p) {
  aclsim::VecCopy(dst, src,
                  aclsim::Strided(aclsim::MaskCtl(isSetMask, mask, repeatTime), p.dstStride,
                                  p.srcStride, 1, p.dstRepeatSize, p.srcRepeatSize, 8));
}
template <typename T, bool isSetMask = true>
void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
          const uint8_t repeatTime, const CopyRepeatParams& p) {
  aclsim::VecCopy(dst, src,
                  aclsim::Strided(aclsim::BitsCtl(isSetMask, mask, repeatTime), p.dstStride,
                                  p.srcStride, 1, p.dstRepeatSize, p.srcRepeatSize, 8));
}

// Transposes 16 address-listed rows; the addresses are physical UB addresses.
template <typename T>
void TransDataTo5HD(uint64_t dstList[16], uint64_t srcList[16], const TransDataTo5HDParams& p) {
  aclsim::VecTransDataTo5HD(dstList, srcList, aclsim::DTypeOf<T>::value, p.dstHighHalf,
                            p.srcHighHalf, p.repeatTimes, p.dstRepStride, p.srcRepStride);
}
template <typename T>
void TransDataTo5HD(const LocalTensor<T> (&dstList)[16], const LocalTensor<T> (&srcList)[16],
                    const TransDataTo5HDParams& params) {
  uint64_t dst[16];
  uint64_t src[16];
  for (int i = 0; i < 16; ++i) {
    dst[i] = dstList[i].GetPhyAddr();
    src[i] = srcList[i].GetPhyAddr();
  }
  TransDataTo5HD<T>(dst, src, params);
}

// The address lists as tensors of 16 addresses.
template <typename T>
void TransDataTo5HD(const LocalTensor<uint64_t>& dst, const LocalTensor<uint64_t>& src,
                    const TransDataTo5HDParams& params) {
  uint64_t dstList[16];
  uint64_t srcList[16];
  for (uint32_t i = 0; i < 16; ++i) {
    dstList[i] = dst.GetValue(i);
    srcList[i] = src.GetValue(i);
  }
  TransDataTo5HD<T>(dstList, srcList, params);
}

}  // namespace AscendC
