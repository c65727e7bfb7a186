// SPDX-License-Identifier: Apache-2.0
// Comparisons make a mask: 0 outside of the mask they get. Select takes the first source where its mask is set.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U,
          typename = detail::OfRegister<U>>
void Compare(MaskReg& dst, U& srcReg0, U& srcReg1, MaskReg& mask) {
  detail::CheckType<T, U>();
  aclsim::RegCompare(static_cast<aclsim::Compare>(mode), detail::kDType<U>, &dst, &srcReg0,
                     &srcReg1, mask);
  ACLSIM_KEEP_FRAME();
}
#define ACLSIM_REG_COMPARES(Name)                                                                  \
  template <typename T = DefaultType, CMPMODE mode = CMPMODE::EQ, typename U, typename S,          \
            typename = detail::OfRegister<U>>                                                      \
  void Name(MaskReg& dst, U& srcReg, S scalarValue, MaskReg& mask) {                               \
    detail::CheckType<T, U>();                                                                     \
    using Element = typename U::ActualT;                                                           \
    aclsim::RegCompareScalar(static_cast<aclsim::Compare>(mode), detail::kDType<U>, &dst, &srcReg, \
                             detail::Bits(static_cast<Element>(scalarValue)), mask);               \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
ACLSIM_REG_COMPARES(Compares)
ACLSIM_REG_COMPARES(CompareScalar)
#undef ACLSIM_REG_COMPARES
template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>
void Select(U& dstReg, U& srcReg0, U& srcReg1, MaskReg& mask) {
  detail::CheckType<T, U>();
  aclsim::RegSelect(detail::kWidth<U>, &dstReg, &srcReg0, &srcReg1, mask);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC::Reg

#endif
