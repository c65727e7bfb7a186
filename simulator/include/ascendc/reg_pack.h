// SPDX-License-Identifier: Apache-2.0
// Lanes that change their places: packed to half their width, interleaved, squeezed together by a mask, gathered by an index register.
// STORE_REG keeps the bytes of Squeeze for a StoreUnAlign without a length.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

template <typename T = DefaultType, typename U = DefaultType,
          HighLowPart part = HighLowPart::LOWEST, typename S, typename V,
          typename = detail::OfRegister<S>>
void Pack(S& dstReg, V& srcReg) {
  static_assert(2 * detail::kWidth<S> == detail::kWidth<V>, "Pack halves the width of elements");
  aclsim::RegPack(detail::kWidth<V>, &dstReg, &srcReg, part == HighLowPart::HIGHEST);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U = DefaultType,
          HighLowPart part = HighLowPart::LOWEST, typename S, typename V,
          typename = detail::OfRegister<S>>
void UnPack(S& dstReg, V& srcReg) {
  static_assert(detail::kWidth<S> == 2 * detail::kWidth<V>, "UnPack doubles the width of elements");
  aclsim::RegUnpack(detail::kWidth<S>, std::is_signed_v<typename V::ActualT>, &dstReg, &srcReg,
                    part == HighLowPart::HIGHEST);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Interleave(U& dstReg0, U& dstReg1, U& srcReg0, U& srcReg1) {
  aclsim::RegInterleave(detail::kWidth<U>, &dstReg0, &dstReg1, &srcReg0, &srcReg1);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void DeInterleave(U& dstReg0, U& dstReg1, U& srcReg0, U& srcReg1) {
  aclsim::RegDeinterleave(detail::kWidth<U>, &dstReg0, &dstReg1, &srcReg0, &srcReg1);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_REG_SQUEEZE(Name)                                                           \
  template <typename T = DefaultType, GatherMaskMode store = GatherMaskMode::NO_STORE_REG, \
            typename U, typename = detail::OfRegister<U>>                                  \
  void Name(U& dstReg, U& srcReg, MaskReg& mask) {                                         \
    aclsim::RegSqueeze(detail::kWidth<U>, &dstReg, &srcReg, mask,                          \
                       store == GatherMaskMode::STORE_REG);                                \
    ACLSIM_KEEP_FRAME();                                                                   \
  }
ACLSIM_REG_SQUEEZE(Squeeze)
ACLSIM_REG_SQUEEZE(GatherMask)
#undef ACLSIM_REG_SQUEEZE
#define ACLSIM_REG_UNSQUEEZE(Name)                                                  \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>> \
  void Name(U& dstReg, MaskReg& mask) {                                             \
    aclsim::RegUnsqueeze(detail::kWidth<U>, &dstReg, mask);                         \
    ACLSIM_KEEP_FRAME();                                                            \
  }
ACLSIM_REG_UNSQUEEZE(Unsqueeze)
ACLSIM_REG_UNSQUEEZE(PrefixSum)
#undef ACLSIM_REG_UNSQUEEZE
template <SpecialPurposeReg spr>
void ClearSpr() {
  aclsim::RegClearSqueezed();
}
template <SpecialPurposeReg spr>
int64_t GetSpr() {
  return aclsim::RegSqueezedBytes();
}

template <typename T = DefaultType, typename U = DefaultType, typename S, typename V,
          typename = detail::OfRegister<S>>
void Gather(S& dstReg, S& srcReg, V& indexReg) {
  static_assert(detail::kWidth<S> == detail::kWidth<V>, "an index is as wide as an element");
  aclsim::RegGatherLanes(detail::kWidth<S>, &dstReg, &srcReg, &indexReg);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC::Reg

#endif
