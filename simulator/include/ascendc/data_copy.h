// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad. Units become bytes here, once; the rules are checked in src/device/data_copy.cpp.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {

inline aclsim::CopyCtl CountCopy(uint64_t bytes) {
  aclsim::CopyCtl ctl;
  ctl.blockLen = bytes / ONE_BLK_SIZE *
                 ONE_BLK_SIZE;  // hardware moves whole 32-byte blocks and drops the rest
  return ctl;
}
inline aclsim::CopyCtl BlockCopy(const DataCopyParams& p) {
  return {p.blockCount, uint64_t(p.blockLen) * ONE_BLK_SIZE, uint64_t(p.srcStride) * ONE_BLK_SIZE,
          uint64_t(p.dstStride) * ONE_BLK_SIZE};
}
template <typename Params>
aclsim::CopyCtl PadCopyIn(const Params& p) {
  return {p.blockCount, p.blockLen, p.srcStride, uint64_t(p.dstStride) * ONE_BLK_SIZE};
}
template <typename Params>
aclsim::CopyCtl PadCopyOut(const Params& p) {
  return {p.blockCount, p.blockLen, uint64_t(p.srcStride) * ONE_BLK_SIZE, p.dstStride};
}
template <typename T>
uint64_t BitsOfElement(T value) {
  static_assert(sizeof(T) <= 8, "an element has at most 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}

}  // namespace detail

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count) {
  aclsim::CopyGmToUb(dst, src.GetPhyAddr(), detail::CountCopy(detail::BytesOf<T>(count)));
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  aclsim::CopyUbToGm(dst.GetPhyAddr(), src, detail::CountCopy(detail::BytesOf<T>(count)));
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  aclsim::CopyUbToUb(dst, src, detail::CountCopy(detail::BytesOf<T>(count)));
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params) {
  aclsim::CopyGmToUb(dst, src.GetPhyAddr(), detail::BlockCopy(params));
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params) {
  aclsim::CopyUbToGm(dst.GetPhyAddr(), src, detail::BlockCopy(params));
}
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params) {
  aclsim::CopyUbToUb(dst, src, detail::BlockCopy(params));
}

template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyExtParams& params, const DataCopyPadExtParams<T>& pad) {
  aclsim::CopyPadGmToUb(
      dst, src.GetPhyAddr(), detail::PadCopyIn(params),
      {pad.isPad, pad.leftPadding, pad.rightPadding, detail::BitsOfElement(pad.paddingValue)});
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyParams& params, const DataCopyPadParams& pad) {
  aclsim::CopyPadGmToUb(dst, src.GetPhyAddr(), detail::PadCopyIn(params),
                        {pad.isPad, pad.leftPadding, pad.rightPadding, pad.paddingValue});
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyExtParams& params) {
  aclsim::CopyPadUbToGm(dst.GetPhyAddr(), src, detail::PadCopyOut(params));
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyParams& params) {
  aclsim::CopyPadUbToGm(dst.GetPhyAddr(), src, detail::PadCopyOut(params));
}

}  // namespace AscendC
