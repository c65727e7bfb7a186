// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of the lanes that the mask selects, of which sums are binary trees: of a register into the lowest lane, an extreme
// with the lane it was in behind it; of each block into a lane each; of pairs of neighbours.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

template <ReduceType type = ReduceType::SUM, typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,
          typename = detail::OfRegister<S>>
void Reduce(S& dstReg, const V& srcReg, const MaskReg& mask) {
  detail::CheckType<T, S>();
  detail::CheckType<U, V>();
  static_assert(mode == MaskMergeMode::ZEROING, "Reduce has ZEROING only");
  aclsim::RegReduce(AscendC::detail::ReduceOpOf(type), detail::kDType<S>, detail::kDType<V>,
                    &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,
          typename = detail::OfRegister<S>>
void ReduceSum(S& dstReg, const V& srcReg, const MaskReg& mask) {
  detail::CheckType<T, S>();
  detail::CheckType<U, V>();
  static_assert(mode == MaskMergeMode::ZEROING, "ReduceSum has ZEROING only");
  aclsim::RegReduce(aclsim::ReduceOp::kSum, detail::kDType<S>, detail::kDType<V>, &dstReg, &srcReg,
                    mask);
  ACLSIM_KEEP_FRAME();
}
#define ACLSIM_REG_EXTREME(Name, Blocks, op)                                                     \
  template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,   \
            typename = detail::OfRegister<U>>                                                    \
  void Name(U& dstReg, const U& srcReg, const MaskReg& mask) {                                   \
    detail::CheckType<T, U>();                                                                   \
    static_assert(mode == MaskMergeMode::ZEROING, #Name " has ZEROING only");                    \
    aclsim::RegReduce(aclsim::ReduceOp::op, detail::kDType<U>, detail::kDType<U>, &dstReg,       \
                      &srcReg, mask);                                                            \
    ACLSIM_KEEP_FRAME();                                                                         \
  }                                                                                              \
  template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,   \
            typename = detail::OfRegister<U>>                                                    \
  void Blocks(U& dstReg, const U& srcReg, const MaskReg& mask) {                                 \
    detail::CheckType<T, U>();                                                                   \
    static_assert(mode == MaskMergeMode::ZEROING, #Blocks " has ZEROING only");                  \
    aclsim::RegReduceBlocks(aclsim::ReduceOp::op, detail::kDType<U>, detail::kDType<U>, &dstReg, \
                            &srcReg, mask);                                                      \
    ACLSIM_KEEP_FRAME();                                                                         \
  }
ACLSIM_REG_EXTREME(ReduceMax, ReduceMaxWithDataBlock, kMax)
ACLSIM_REG_EXTREME(ReduceMin, ReduceMinWithDataBlock, kMin)
#undef ACLSIM_REG_EXTREME
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,
          typename = detail::OfRegister<U>>
void ReduceSumWithDataBlock(U& dstReg, const U& srcReg, const MaskReg& mask) {
  detail::CheckType<T, U>();
  static_assert(mode == MaskMergeMode::ZEROING, "ReduceSumWithDataBlock has ZEROING only");
  aclsim::RegReduceBlocks(aclsim::ReduceOp::kSum, detail::kDType<U>, detail::kDType<U>, &dstReg,
                          &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <ReduceType type = ReduceType::SUM, typename T = DefaultType, typename U = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,
          typename = detail::OfRegister<S>>
void ReduceDataBlock(S& dstReg, const V& srcReg, const MaskReg& mask) {
  detail::CheckType<T, S>();
  detail::CheckType<U, V>();
  static_assert(mode == MaskMergeMode::ZEROING, "ReduceDataBlock has ZEROING only");
  aclsim::RegReduceBlocks(AscendC::detail::ReduceOpOf(type), detail::kDType<S>, detail::kDType<V>,
                          &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <ReduceType type, typename T, MaskMergeMode mode, typename U,
          typename = detail::OfRegister<U>>
void ReduceDataBlock(U& dstReg, const U& srcReg, const MaskReg& mask) {
  ReduceDataBlock<type, T, T, mode>(dstReg, srcReg, mask);
}
template <PairReduce type = PairReduce::SUM, typename T = DefaultType,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename U, typename = detail::OfRegister<U>>
void PairReduceElem(U& dstReg, const U& srcReg, const MaskReg& mask) {
  detail::CheckType<T, U>();
  aclsim::RegReducePairs(detail::kDType<U>, &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,
          typename = detail::OfRegister<U>>
void PairReduceSum(U& dstReg, const U& srcReg, const MaskReg& mask) {
  detail::CheckType<T, U>();
  aclsim::RegReducePairs(detail::kDType<U>, &dstReg, &srcReg, mask);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC::Reg

#endif
