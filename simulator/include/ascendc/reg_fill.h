// SPDX-License-Identifier: Apache-2.0
// A scalar, the lowest lane or an index into the lanes of a register, and copies of registers. Move keeps lanes outside of its mask.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

template <typename T = DefaultType, typename U, typename S, typename = detail::OfRegister<S>>
void Duplicate(S& dstReg, U scalarValue) {
  detail::CheckType<T, S>();
  using Element = typename S::ActualT;
  aclsim::RegDuplicate(detail::kWidth<S>, &dstReg, detail::Bits(static_cast<Element>(scalarValue)),
                       nullptr, false);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::ZEROING, typename U,
          typename S, typename = detail::OfRegister<S>,
          typename = std::enable_if_t<!detail::IsRegister<U>::value>>
void Duplicate(S& dstReg, U scalarValue, MaskReg& mask) {
  detail::CheckType<T, S>();
  using Element = typename S::ActualT;
  aclsim::RegDuplicate(detail::kWidth<S>, &dstReg, detail::Bits(static_cast<Element>(scalarValue)),
                       &mask, detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}
template <typename T = DefaultType, HighLowPart pos = HighLowPart::LOWEST,
          MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename = detail::OfRegister<S>>
void Duplicate(S& dstReg, S& srcReg, MaskReg& mask) {
  detail::CheckType<T, S>();
  static_assert(pos == HighLowPart::LOWEST, "Duplicate takes the lowest element only");
  aclsim::RegSpread(detail::kWidth<S>, &dstReg, &srcReg, mask, detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_REG_MOVES(Name)                                                                 \
  template <typename T = DefaultType, MaskMergeMode mode = MaskMergeMode::MERGING, typename U, \
            typename = detail::OfRegister<U>>                                                  \
  void Name(U& dstReg, U& srcReg, MaskReg mask) {                                              \
    detail::CheckType<T, U>();                                                                 \
    static_assert(mode == MaskMergeMode::MERGING, #Name " does not have ZEROING");             \
    aclsim::RegMove(detail::kWidth<U>, &dstReg, &srcReg, &mask);                               \
    ACLSIM_KEEP_FRAME();                                                                       \
  }                                                                                            \
  template <typename T = DefaultType, typename U, typename = detail::OfRegister<U>>            \
  void Name(U& dstReg, U& srcReg) {                                                            \
    detail::CheckType<T, U>();                                                                 \
    aclsim::RegMove(detail::kWidth<U>, &dstReg, &srcReg, nullptr);                             \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_REG_MOVES(Move)
ACLSIM_REG_MOVES(Copy)
#undef ACLSIM_REG_MOVES

template <typename T = DefaultType, IndexOrder order = IndexOrder::INCREASE_ORDER, typename U,
          typename S, typename = detail::OfRegister<S>>
void Arange(S& dstReg, U scalarValue) {
  detail::CheckType<T, S>();
  using Element = typename S::ActualT;
  aclsim::RegArange(detail::kDType<S>, &dstReg, detail::Bits(static_cast<Element>(scalarValue)),
                    order == IndexOrder::DECREASE_ORDER);
  ACLSIM_KEEP_FRAME();
}

}  // namespace AscendC::Reg

#endif
