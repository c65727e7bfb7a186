// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad. Units become bytes here, once; the rules are checked in src/device/data_copy.cpp.
#pragma once

#include <cstring>

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

#if __NPU_ARCH__ == 3510
struct LoopModeParams {
  LoopModeParams() = default;
  LoopModeParams(uint32_t size1, uint32_t size2, uint64_t src1, uint64_t dst1, uint64_t src2,
                 uint64_t dst2)
      : loop1Size(size1),
        loop2Size(size2),
        loop1SrcStride(src1),
        loop1DstStride(dst1),
        loop2SrcStride(src2),
        loop2DstStride(dst2) {}
  uint32_t loop1Size = 0;
  uint32_t loop2Size = 0;
  uint64_t loop1SrcStride = 0;
  uint64_t loop1DstStride = 0;
  uint64_t loop2SrcStride = 0;
  uint64_t loop2DstStride = 0;
};
enum class DataCopyMVType : uint8_t { UB_TO_OUT = 0, OUT_TO_UB = 1 };
}  // namespace AscendC
namespace aclsim {
// The core's LoopModeParams of copies to or from UB; sizes of 0: no loops.
ACLSIM_DEVICE_API uint64_t* LoopMode(bool toUb);
}  // namespace aclsim
namespace AscendC {
static_assert(sizeof(LoopModeParams) == 5 * sizeof(uint64_t));
inline void SetLoopModePara(const LoopModeParams& loopParams, DataCopyMVType type) {
  std::memcpy(aclsim::LoopMode(type == DataCopyMVType::OUT_TO_UB), &loopParams, sizeof(loopParams));
}
inline void ResetLoopModePara(DataCopyMVType type) { SetLoopModePara(LoopModeParams{}, type); }
#endif
enum class PaddingMode : uint8_t { Normal = 0, Compact };

namespace detail {
// copy(bytes of dst, bytes of src) for each round of the loops that SetLoopModePara has left.
template <bool toUb, typename F>
void InLoops(const F& copy) {
#if __NPU_ARCH__ == 3510
  LoopModeParams loops;
  std::memcpy(static_cast<void*>(&loops), aclsim::LoopMode(toUb), sizeof(loops));
  if (loops.loop1Size != 0 || loops.loop2Size != 0) {
    for (uint64_t j = 0; j < loops.loop2Size; ++j) {
      for (uint64_t i = 0; i < loops.loop1Size; ++i) {
        copy(j * loops.loop2DstStride + i * loops.loop1DstStride,
             j * loops.loop2SrcStride + i * loops.loop1SrcStride);
      }
    }
    return;
  }
#endif
  copy(0, 0);
}
template <PaddingMode mode>
constexpr void CheckPaddingMode() {
  static_assert(mode == PaddingMode::Normal,
                "DataCopyPad with PaddingMode::Compact is not in this simulator yet");
}
// Not lambdas: call sites are found further up than functions of this namespace.
struct PadIn {
  aclsim::Ub dst;
  const uint8_t* src;
  aclsim::CopyCtl ctl;
  aclsim::PadCtl pad;
  void operator()(uint64_t to, uint64_t from) const {
    aclsim::Ub ub = dst;
    ub.addr += to;
    aclsim::CopyPadGmToUb(ub, src + from, ctl, pad);
    ACLSIM_KEEP_FRAME();
  }
};
struct PadOut {
  uint8_t* dst;
  aclsim::Ub src;
  aclsim::CopyCtl ctl;
  void operator()(uint64_t to, uint64_t from) const {
    aclsim::Ub ub = src;
    ub.addr += from;
    aclsim::CopyPadUbToGm(dst + to, ub, ctl);
    ACLSIM_KEEP_FRAME();
  }
};
template <typename T>
uint8_t* GmBytes(const GlobalTensor<T>& tensor) {
  return reinterpret_cast<uint8_t*>(tensor.GetPhyAddr());
}
}  // namespace detail

template <typename T, PaddingMode mode = PaddingMode::Normal>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyExtParams& params, const DataCopyPadExtParams<T>& pad) {
  detail::CheckPaddingMode<mode>();
  detail::InLoops<true>(detail::PadIn{
      dst,
      detail::GmBytes(src),
      detail::PadCopyIn(params),
      {pad.isPad, pad.leftPadding, pad.rightPadding, detail::BitsOfElement(pad.paddingValue)}});
}
template <typename T, PaddingMode mode = PaddingMode::Normal>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                 const DataCopyParams& params, const DataCopyPadParams& pad) {
  detail::CheckPaddingMode<mode>();
  detail::InLoops<true>(
      detail::PadIn{dst,
                    detail::GmBytes(src),
                    detail::PadCopyIn(params),
                    {pad.isPad, pad.leftPadding, pad.rightPadding, pad.paddingValue}});
}
template <typename T, PaddingMode mode = PaddingMode::Normal>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyExtParams& params) {
  detail::CheckPaddingMode<mode>();
  detail::InLoops<false>(detail::PadOut{detail::GmBytes(dst), src, detail::PadCopyOut(params)});
}
template <typename T, PaddingMode mode = PaddingMode::Normal>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyParams& params) {
  detail::CheckPaddingMode<mode>();
  detail::InLoops<false>(detail::PadOut{detail::GmBytes(dst), src, detail::PadCopyOut(params)});
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
