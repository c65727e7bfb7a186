// SPDX-License-Identifier: Apache-2.0
// Reductions. The summation order is the hardware's, so sums agree bit for bit with the documented trees.
#pragma once

#include "ascendc/vec_arith.h"

namespace AscendC {

namespace detail {
inline aclsim::VecCtl Reduce(aclsim::VecCtl ctl, int32_t dstRep, int32_t srcBlk, int32_t srcRep) {
  return aclsim::Strided(ctl, 1, srcBlk, 1, dstRep, srcRep, 8);
}
}  // namespace detail

// One result per repeat; dstRepStride counts results, not blocks.
#define ACLSIM_WHOLE_REDUCE(Name, op, ...)                                                        \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,             \
            const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,     \
            const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {     \
    aclsim::VecWholeReduce(aclsim::ReduceOp::k##op, dst, src,                                     \
                           detail::Reduce(aclsim::MaskCtl(isSetMask, uint64_t(mask), repeatTime), \
                                          dstRepStride, srcBlkStride, srcRepStride),              \
                           static_cast<uint8_t>(order));                                          \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],          \
            const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,     \
            const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {     \
    aclsim::VecWholeReduce(aclsim::ReduceOp::k##op, dst, src,                                     \
                           detail::Reduce(aclsim::BitsCtl(isSetMask, mask, repeatTime),           \
                                          dstRepStride, srcBlkStride, srcRepStride),              \
                           static_cast<uint8_t>(order));                                          \
  }
#include "ascendc/instructions.def"

// One result per 32-byte block, eight per repeat.
#define ACLSIM_BLOCK_REDUCE(Name, op, ...)                                                        \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,       \
            const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,           \
            const int32_t srcRepStride) {                                                         \
    aclsim::VecBlockReduce(aclsim::ReduceOp::k##op, dst, src,                                     \
                           detail::Reduce(aclsim::MaskCtl(isSetMask, uint64_t(mask), repeatTime), \
                                          dstRepStride, srcBlkStride, srcRepStride));             \
  }                                                                                               \
  template <typename T, bool isSetMask = true>                                                    \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,       \
            const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,        \
            const int32_t srcRepStride) {                                                         \
    aclsim::VecBlockReduce(aclsim::ReduceOp::k##op, dst, src,                                     \
                           detail::Reduce(aclsim::BitsCtl(isSetMask, mask, repeatTime),           \
                                          dstRepStride, srcBlkStride, srcRepStride));             \
  }
#include "ascendc/instructions.def"

template <typename T, bool isSetMask = true>
void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                   const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                   const int32_t srcRepStride) {
  aclsim::VecPairReduceSum(dst, src,
                           detail::Reduce(aclsim::MaskCtl(isSetMask, uint64_t(mask), repeatTime),
                                          dstRepStride, srcBlkStride, srcRepStride));
}
template <typename T, bool isSetMask = true>
void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                   const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                   const int32_t srcRepStride) {
  aclsim::VecPairReduceSum(dst, src,
                           detail::Reduce(aclsim::BitsCtl(isSetMask, mask, repeatTime),
                                          dstRepStride, srcBlkStride, srcRepStride));
}

// isSetMask = false: the element count is what SetVectorMask left, in counter mode.
template <typename T, bool isSetMask = true>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               const LocalTensor<T>& sharedTmpBuffer, const int32_t count) {
  aclsim::VecReduceSum(dst, src, sharedTmpBuffer, aclsim::CountCtl(isSetMask, count));
}
template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               const LocalTensor<T>& sharedTmpBuffer, const int32_t mask, const int32_t repeatTime,
               const int32_t srcRepStride) {
  aclsim::VecReduceSum(
      dst, src, sharedTmpBuffer,
      detail::Reduce(aclsim::MaskCtl(true, uint64_t(mask), repeatTime), 1, 1, srcRepStride));
}
template <typename T>
void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
               const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],
               const int32_t repeatTime, const int32_t srcRepStride) {
  aclsim::VecReduceSum(dst, src, sharedTmpBuffer,
                       detail::Reduce(aclsim::BitsCtl(true, mask, repeatTime), 1, 1, srcRepStride));
}

#define ACLSIM_EXTREME(Name, op, ...)                                                            \
  template <typename T>                                                                          \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                \
            const LocalTensor<T>& sharedTmpBuffer, const int32_t count, bool calIndex = false) { \
    aclsim::VecReduceExtreme(aclsim::ReduceOp::k##op, dst, src, sharedTmpBuffer,                 \
                             aclsim::CountCtl(count), calIndex);                                 \
  }                                                                                              \
  template <typename T>                                                                          \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                \
            const LocalTensor<T>& sharedTmpBuffer, const int32_t mask, const int32_t repeatTime, \
            const int32_t srcRepStride, bool calIndex = false) {                                 \
    aclsim::VecReduceExtreme(                                                                    \
        aclsim::ReduceOp::k##op, dst, src, sharedTmpBuffer,                                      \
        detail::Reduce(aclsim::MaskCtl(true, uint64_t(mask), repeatTime), 1, 1, srcRepStride),   \
        calIndex);                                                                               \
  }                                                                                              \
  template <typename T>                                                                          \
  void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                \
            const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],                        \
            const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false) {       \
    aclsim::VecReduceExtreme(                                                                    \
        aclsim::ReduceOp::k##op, dst, src, sharedTmpBuffer,                                      \
        detail::Reduce(aclsim::BitsCtl(true, mask, repeatTime), 1, 1, srcRepStride), calIndex);  \
  }
#include "ascendc/instructions.def"

}  // namespace AscendC
