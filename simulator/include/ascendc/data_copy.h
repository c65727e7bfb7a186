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

// A range of one dimension: pieces of burstLen blocks (dimension 0) or single rows, `stride` elements or rows apart.
constexpr uint32_t K_MAX_DIM = 8;
struct SliceInfo {
  SliceInfo() = default;
  SliceInfo(uint32_t start, uint32_t end, uint32_t gap, uint32_t burst, uint32_t shape = 0)
      : startIndex(start), endIndex(end), stride(gap), burstLen(burst), shapeValue(shape) {}
  uint32_t startIndex = 0;
  uint32_t endIndex = ONE_BLK_SIZE - 1;
  uint32_t stride = 0;
  uint32_t burstLen = ONE_BLK_SIZE;
  uint32_t shapeValue = 0;
};

namespace detail {
inline uint32_t PiecesOf(const SliceInfo& slice, uint32_t piece) {
  return (slice.endIndex - slice.startIndex + 1 + slice.stride) / (piece + slice.stride);
}
// Calls copy(dst element, src element) for the first piece of every row.
template <typename F>
void ForEachRow(const SliceInfo dst[], const SliceInfo src[], uint32_t dim, uint64_t dstAt,
                uint64_t srcAt, const F& copy) {
  uint64_t dstPitch = 1;
  uint64_t srcPitch = 1;
  for (uint32_t i = 0; i + 1 < dim; ++i) {
    dstPitch *= dst[i].shapeValue;
    srcPitch *= src[i].shapeValue;
  }
  const SliceInfo& to = dst[dim - 1];
  const SliceInfo& from = src[dim - 1];
  if (dim == 1) {
    copy(dstAt + to.startIndex, srcAt + from.startIndex);
    return;
  }
  for (uint32_t i = 0; i < PiecesOf(from, 1); ++i) {
    ForEachRow(dst, src, dim - 1, dstAt + (to.startIndex + i * (to.stride + 1)) * dstPitch,
               srcAt + (from.startIndex + i * (from.stride + 1)) * srcPitch, copy);
  }
}
template <typename T>
void CheckUbSlice(const SliceInfo& ub) {
  if (ub.stride * sizeof(T) % ONE_BLK_SIZE != 0) {
    aclsim::AssertFail("DataCopy of slices: a stride in UB is whole blocks", __FILE__, __LINE__,
                       "");
  }
}
template <typename T>
aclsim::CopyCtl SliceCopy(const SliceInfo& dst, const SliceInfo& src) {
  const uint64_t bytes = uint64_t(src.burstLen) * ONE_BLK_SIZE;
  return {PiecesOf(src, static_cast<uint32_t>(bytes / sizeof(T))), bytes, src.stride * sizeof(T),
          dst.stride * sizeof(T)};
}
}  // namespace detail

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
              const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1) {
  detail::CheckUbSlice<T>(dstSliceInfo[0]);
  const aclsim::CopyCtl ctl = detail::SliceCopy<T>(dstSliceInfo[0], srcSliceInfo[0]);
  detail::ForEachRow(dstSliceInfo, srcSliceInfo, dimValue, 0, 0, [&](uint64_t to, uint64_t from) {
    aclsim::CopyGmToUb(dst[static_cast<uint32_t>(to)], src[from].GetPhyAddr(), ctl);
  });
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
              const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1) {
  detail::CheckUbSlice<T>(srcSliceInfo[0]);
  const aclsim::CopyCtl ctl = detail::SliceCopy<T>(dstSliceInfo[0], srcSliceInfo[0]);
  detail::ForEachRow(dstSliceInfo, srcSliceInfo, dimValue, 0, 0, [&](uint64_t to, uint64_t from) {
    aclsim::CopyUbToGm(dst[to].GetPhyAddr(), src[static_cast<uint32_t>(from)], ctl);
  });
}

}  // namespace AscendC
