// SPDX-License-Identifier: Apache-2.0
// Conversions. Where the types differ in width, RegLayout says which part of each wider lane the narrower one takes or comes from;
// the mask has the source's lanes.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

namespace detail {
constexpr aclsim::Round RoundOf(RoundMode mode) {
  return mode == RoundMode::UNKNOWN ? aclsim::Round::kNone : static_cast<aclsim::Round>(mode);
}
}  // namespace detail

template <typename T = DefaultType, typename U = DefaultType, const CastTrait& trait = castTrait,
          typename S, typename V, typename = detail::OfRegister<S>>
void Cast(S& dstReg, V& srcReg, MaskReg& mask) {
  detail::CheckType<T, S>();
  detail::CheckType<U, V>();
  constexpr uint8_t part =
      trait.layoutMode == RegLayout::UNKNOWN ? 0 : static_cast<uint8_t>(trait.layoutMode);
  aclsim::RegCast(detail::kDType<S>, detail::kDType<V>, &dstReg, &srcReg,
                  detail::RoundOf(trait.roundMode), part, trait.satMode == SatMode::SAT, mask,
                  trait.mrgMode == MaskMergeMode::MERGING);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, RoundMode roundMode = RoundMode::CAST_NONE,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename = detail::OfRegister<S>>
void Truncate(S& dstReg, S& srcReg, MaskReg& mask) {
  detail::CheckType<T, S>();
  using aclsim::RegOp1;
  constexpr RegOp1 op = roundMode == RoundMode::CAST_FLOOR   ? RegOp1::kTruncateFloor
                        : roundMode == RoundMode::CAST_CEIL  ? RegOp1::kTruncateCeil
                        : roundMode == RoundMode::CAST_ROUND ? RegOp1::kTruncateRound
                        : roundMode == RoundMode::CAST_TRUNC ? RegOp1::kTruncateTrunc
                                                             : RegOp1::kTruncateRint;
  aclsim::RegUnary(op, detail::kDType<S>, &dstReg, &srcReg, mask, detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC::Reg

#endif
