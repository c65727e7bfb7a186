// SPDX-License-Identifier: Apache-2.0
// Masks: made of a count, a pattern, a register or the mask register; combined, packed and interleaved. UpdateMask takes the lanes
// it selects off its count.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

template <typename T, const RegTrait& regTrait = RegTraitNumOne>
MaskReg UpdateMask(uint32_t& scalarValue) {
  static_assert(regTrait.REG_NUM == 1, "masks of two registers are not in this simulator yet");
  constexpr uint32_t kLanes = VECTOR_REG_WIDTH / sizeof(T);
  const uint32_t lanes = scalarValue;
  scalarValue = lanes < kLanes ? 0 : lanes - kLanes;
  return aclsim::RegCreateMask(sizeof(T), lanes, 1);
}
template <typename T, MaskPattern mode = MaskPattern::ALL,
          const RegTrait& regTrait = RegTraitNumOne>
MaskReg CreateMask() {
  static_assert(regTrait.REG_NUM == 1, "masks of two registers are not in this simulator yet");
  constexpr uint32_t kLanes = VECTOR_REG_WIDTH / sizeof(T);
  constexpr uint32_t kCount[] = {kLanes, 1,   2,      3,      4,          8,          16, 32,
                                 64,     128, kLanes, kLanes, kLanes / 2, kLanes / 4, 0,  0};
  constexpr uint32_t kEvery = mode == MaskPattern::M3 ? 3 : mode == MaskPattern::M4 ? 4 : 1;
  return aclsim::RegCreateMask(sizeof(T), kCount[static_cast<int>(mode)], kEvery);
}
template <typename T>
MaskReg MoveMask() {
  return aclsim::RegMaskOfVectorMask(sizeof(T));
}
template <typename T = DefaultType, int16_t offset, typename U>
void MaskGenWithRegTensor(MaskReg& dst, U& srcReg) {
  detail::CheckType<T, U>();
  aclsim::RegMaskOfRegister(detail::kWidth<U>, &dst, &srcReg, offset);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_MASK_OP2(Name, op)                                                     \
  inline void Name(MaskReg& dst, MaskReg& src0, MaskReg& src1, MaskReg& mask) {       \
    aclsim::RegMaskBits(aclsim::RegMaskOp::op, &dst, src0, src1, &mask);              \
    ACLSIM_KEEP_FRAME();                                                              \
  }                                                                                   \
  inline void Mask##Name(MaskReg& dst, MaskReg& src0, MaskReg& src1, MaskReg& mask) { \
    aclsim::RegMaskBits(aclsim::RegMaskOp::op, &dst, src0, src1, &mask);              \
    ACLSIM_KEEP_FRAME();                                                              \
  }
ACLSIM_MASK_OP2(And, kAnd)
ACLSIM_MASK_OP2(Or, kOr)
ACLSIM_MASK_OP2(Xor, kXor)
#undef ACLSIM_MASK_OP2
#define ACLSIM_MASK_FORMS(Name, Old, Parameters, ...) \
  inline void Name Parameters {                       \
    __VA_ARGS__;                                      \
    ACLSIM_KEEP_FRAME();                              \
  }                                                   \
  inline void Old Parameters {                        \
    __VA_ARGS__;                                      \
    ACLSIM_KEEP_FRAME();                              \
  }
ACLSIM_MASK_FORMS(Not, MaskNot, (MaskReg & dst, MaskReg& src, MaskReg& mask),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kNot, &dst, src, src, &mask))
ACLSIM_MASK_FORMS(Move, MaskMov, (MaskReg & dst, MaskReg& src, MaskReg& mask),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kMove, &dst, src, src, &mask))
ACLSIM_MASK_FORMS(Move, MaskMov, (MaskReg & dst, MaskReg& src),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kMove, &dst, src, src, nullptr))
ACLSIM_MASK_FORMS(Select, MaskSel, (MaskReg & dst, MaskReg& src0, MaskReg& src1, MaskReg& mask),
                  aclsim::RegMaskBits(aclsim::RegMaskOp::kSelect, &dst, src0, src1, &mask))
#undef ACLSIM_MASK_FORMS
#define ACLSIM_MASK_PARTS(Name, Old, function)                 \
  template <HighLowPart part = HighLowPart::LOWEST>            \
  void Name(MaskReg& dst, MaskReg& src) {                      \
    aclsim::function(&dst, src, part == HighLowPart::HIGHEST); \
    ACLSIM_KEEP_FRAME();                                       \
  }                                                            \
  template <HighLowPart part = HighLowPart::LOWEST>            \
  void Old(MaskReg& dst, MaskReg& src) {                       \
    aclsim::function(&dst, src, part == HighLowPart::HIGHEST); \
    ACLSIM_KEEP_FRAME();                                       \
  }
ACLSIM_MASK_PARTS(Pack, MaskPack, RegMaskPack)
ACLSIM_MASK_PARTS(UnPack, MaskUnPack, RegMaskUnpack)
#undef ACLSIM_MASK_PARTS
#define ACLSIM_MASK_WEAVE(Name, Old, function)                            \
  template <typename T>                                                   \
  void Name(MaskReg& dst0, MaskReg& dst1, MaskReg& src0, MaskReg& src1) { \
    aclsim::function(sizeof(T), &dst0, &dst1, src0, src1);                \
    ACLSIM_KEEP_FRAME();                                                  \
  }                                                                       \
  template <typename T>                                                   \
  void Old(MaskReg& dst0, MaskReg& dst1, MaskReg& src0, MaskReg& src1) {  \
    aclsim::function(sizeof(T), &dst0, &dst1, src0, src1);                \
    ACLSIM_KEEP_FRAME();                                                  \
  }
ACLSIM_MASK_WEAVE(Interleave, MaskInterleave, RegMaskInterleave)
ACLSIM_MASK_WEAVE(DeInterleave, MaskDeInterleave, RegMaskDeinterleave)
#undef ACLSIM_MASK_WEAVE

}  // namespace AscendC::Reg

#endif
