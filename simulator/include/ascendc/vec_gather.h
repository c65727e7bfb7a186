// SPDX-License-Identifier: Apache-2.0
// Instructions that pick elements: Gather, Gatherb, GatherMask; and those that make index vectors.
#pragma once

#include "ascendc/device_reorder.h"
#include "ascendc/vec_arith.h"

namespace AscendC {

struct GatherRepeatParams {
  GatherRepeatParams() = default;
  GatherRepeatParams(uint8_t dstBlk, uint8_t dstRep) : dstRepStride(dstRep), dstBlkStride(dstBlk) {}
  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

enum class GatherMaskMode : uint8_t { VERSION_V1 = 0, VERSION_V2 = 1 };
constexpr GatherMaskMode defaultGatherMaskMode = GatherMaskMode::VERSION_V1;
constexpr GatherMaskMode defaultGahterMaskMode = defaultGatherMaskMode;

struct GatherMaskParams {
  GatherMaskParams() = default;
  GatherMaskParams(uint8_t src0Blk, uint16_t repeat, uint16_t src0Rep, uint8_t src1Rep)
      : src0BlockStride(src0Blk),
        repeatTimes(repeat),
        src0RepeatStride(src0Rep),
        src1RepeatStride(src1Rep) {}
  uint8_t src0BlockStride = DEFAULT_BLK_STRIDE;
  uint16_t repeatTimes = 0;
  uint16_t src0RepeatStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepeatStride = DEFAULT_REPEAT_STRIDE;
};

// Offsets and the base count bytes from the start of src.
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
            const uint32_t count) {
  aclsim::VecGather(dst, src, srcOffset, srcBaseOffset, aclsim::CountCtl(count));
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
            const uint64_t mask, const uint8_t repeatTime, const uint16_t dstRepStride) {
  aclsim::VecGather(
      dst, src, srcOffset, srcBaseOffset,
      aclsim::Strided(aclsim::MaskCtl(true, mask, repeatTime), 1, 1, 1, dstRepStride, 8, 8));
}
template <typename T>
void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
            const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseOffset,
            const uint64_t mask[], const uint8_t repeatTime, const uint16_t dstRepStride) {
  aclsim::VecGather(
      dst, src, srcOffset, srcBaseOffset,
      aclsim::Strided(aclsim::BitsCtl(true, mask, repeatTime), 1, 1, 1, dstRepStride, 8, 8));
}

// Whole blocks; a block stride of 0 counts as 1.
template <typename T>
void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
             const LocalTensor<uint32_t>& offset, const uint8_t repeatTime,
             const GatherRepeatParams& p) {
  aclsim::VecGatherBlocks(dst, src, offset, repeatTime, p.dstBlkStride == 0 ? 1 : p.dstBlkStride,
                          p.dstRepStride);
}

namespace detail {
inline aclsim::GatherMaskCtl GatherCtl(bool reduceMode, uint32_t mask, const GatherMaskParams& p) {
  aclsim::GatherMaskCtl ctl;
  ctl.counter = reduceMode;
  ctl.mask = mask;
  ctl.repeat = p.repeatTimes;
  ctl.srcBlk = p.src0BlockStride;
  ctl.srcRep = p.src0RepeatStride;
  ctl.patternRep = p.src1RepeatStride;
  return ctl;
}
}  // namespace detail

template <typename T, typename U, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                const LocalTensor<U>& src1Pattern, const bool reduceMode, const uint32_t mask,
                const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt) {
  const aclsim::Ub pattern = src1Pattern;
  rsvdCnt = aclsim::VecGatherMask(dst, src0, &pattern,
                                  detail::GatherCtl(reduceMode, mask, gatherMaskParams));
}
template <typename T, GatherMaskMode mode = defaultGatherMaskMode>
void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t src1Pattern,
                const bool reduceMode, const uint32_t mask,
                const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt) {
  aclsim::GatherMaskCtl ctl = detail::GatherCtl(reduceMode, mask, gatherMaskParams);
  ctl.pattern = src1Pattern;
  rsvdCnt = aclsim::VecGatherMask(dst, src0, nullptr, ctl);
}

template <typename T>
void CreateVecIndex(LocalTensor<T> dst, const T& firstValue, uint32_t count) {
  aclsim::VecCreateIndex(dst, detail::Scalar(firstValue), aclsim::CountCtl(count));
}
template <typename T>
void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask, uint8_t repeatTime,
                    uint16_t dstBlkStride, uint8_t dstRepStride) {
  aclsim::VecCreateIndex(dst, detail::Scalar(firstValue),
                         aclsim::Strided(aclsim::MaskCtl(true, mask, repeatTime), dstBlkStride, 1,
                                         1, dstRepStride, 8, 8));
}
template <typename T>
void CreateVecIndex(LocalTensor<T>& dst, const T& firstValue, uint64_t mask[], uint8_t repeatTime,
                    uint16_t dstBlkStride, uint8_t dstRepStride) {
  aclsim::VecCreateIndex(dst, detail::Scalar(firstValue),
                         aclsim::Strided(aclsim::BitsCtl(true, mask, repeatTime), dstBlkStride, 1,
                                         1, dstRepStride, 8, 8));
}

// firstValue + i * diffValue, under its old and its new name.
template <typename T>
void ArithProgression(const LocalTensor<T>& dst, const T firstValue, const T diffValue,
                      const int32_t count) {
  aclsim::VecProgression(dst, detail::Scalar(firstValue), detail::Scalar(diffValue), count);
}
template <typename T>
void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue, const int32_t count) {
  ArithProgression(dst, firstValue, diffValue, count);
}

}  // namespace AscendC
