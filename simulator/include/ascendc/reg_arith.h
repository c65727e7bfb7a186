// SPDX-License-Identifier: Apache-2.0
// Arithmetic, lane by lane. Lanes outside of the mask become 0, or stay with MERGING. Types without a body are a fault at run time.
#pragma once

#include "ascendc/reg_types.h"

#if __NPU_ARCH__ == 3510

namespace AscendC::Reg {

#define ACLSIM_REG_BINARY(Name, op)                                                             \
  template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename U,           \
            typename = detail::OfRegister<U>>                                                   \
  void Name(U& dstReg, U& srcReg0, U& srcReg1, MaskReg& mask) {                                 \
    detail::CheckType<T, U>();                                                                  \
    aclsim::RegBinary(aclsim::RegOp2::op, detail::kDType<U>, &dstReg, &srcReg0, &srcReg1, mask, \
                      detail::kMerges<mode>);                                                   \
    ACLSIM_KEEP_FRAME();                                                                        \
  }
ACLSIM_REG_BINARY(Add, kAdd)
ACLSIM_REG_BINARY(Sub, kSub)
ACLSIM_REG_BINARY(Mul, kMul)
ACLSIM_REG_BINARY(Div, kDiv)
ACLSIM_REG_BINARY(Max, kMax)
ACLSIM_REG_BINARY(Min, kMin)
ACLSIM_REG_BINARY(And, kAnd)
ACLSIM_REG_BINARY(Or, kOr)
ACLSIM_REG_BINARY(Xor, kXor)
ACLSIM_REG_BINARY(Prelu, kPrelu)
ACLSIM_REG_BINARY(AbsSub, kAbsSub)
ACLSIM_REG_BINARY(FusedAbsSub, kAbsSub)
ACLSIM_REG_BINARY(MulAddDst, kMulAddDst)
ACLSIM_REG_BINARY(MulDstAdd, kMulDstAdd)
ACLSIM_REG_BINARY(FusedMulDstAdd, kMulDstAdd)
#undef ACLSIM_REG_BINARY

#define ACLSIM_REG_SHIFT(Name, op)                                                                 \
  template <typename T = DefaultType, typename U = DefaultType,                                    \
            MaskMergeMode mode = MaskMergeMode::ZEROING, typename S, typename V,                   \
            typename = detail::OfRegister<S>>                                                      \
  void Name(S& dstReg, S& srcReg0, V& srcReg1, MaskReg& mask) {                                    \
    detail::CheckType<T, S>();                                                                     \
    detail::CheckType<U, V>();                                                                     \
    static_assert(detail::kWidth<S> == detail::kWidth<V> && std::is_signed_v<typename V::ActualT>, \
                  "distances are signed integers, as wide as elements");                           \
    aclsim::RegBinary(aclsim::RegOp2::op, detail::kDType<S>, &dstReg, &srcReg0, &srcReg1, mask,    \
                      detail::kMerges<mode>);                                                      \
    ACLSIM_KEEP_FRAME();                                                                           \
  }
ACLSIM_REG_SHIFT(ShiftLeft, kShiftLeft)
ACLSIM_REG_SHIFT(ShiftRight, kShiftRight)
#undef ACLSIM_REG_SHIFT

#define ACLSIM_REG_SCALAR(Name, op)                                                            \
  template <typename T = DefaultType, typename U, MaskMergeMode mode = MaskMergeMode::ZEROING, \
            typename S, typename = detail::OfRegister<S>>                                      \
  void Name(S& dstReg, S& srcReg, U scalarValue, MaskReg& mask) {                              \
    detail::CheckType<T, S>();                                                                 \
    using Element = typename S::ActualT;                                                       \
    aclsim::RegWithScalar(aclsim::RegOp2::op, detail::kDType<S>, &dstReg, &srcReg,             \
                          detail::Bits(static_cast<Element>(scalarValue)), mask,               \
                          detail::kMerges<mode>);                                              \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_REG_SCALAR(Adds, kAdd)
ACLSIM_REG_SCALAR(Muls, kMul)
ACLSIM_REG_SCALAR(Maxs, kMax)
ACLSIM_REG_SCALAR(Mins, kMin)
ACLSIM_REG_SCALAR(ShiftLefts, kShiftLeft)
ACLSIM_REG_SCALAR(ShiftRights, kShiftRight)
ACLSIM_REG_SCALAR(Axpy, kMulAddDst)
#undef ACLSIM_REG_SCALAR
template <typename T = DefaultType, typename U, MaskMergeMode mode = MaskMergeMode::ZEROING,
          typename S, typename = detail::OfRegister<S>>
void LeakyRelu(S& dstReg, S& srcReg, U scalarValue, MaskReg& mask) {
  detail::CheckType<T, S>();
  using Element = typename S::ActualT;
  aclsim::RegLeakyRelu(detail::kDType<S>, &dstReg, &srcReg,
                       detail::Bits(static_cast<Element>(scalarValue)), mask,
                       detail::kMerges<mode>);
  ACLSIM_KEEP_FRAME();
}

#define ACLSIM_REG_UNARY(Name, op)                                                    \
  template <typename T = DefaultType, auto mode = MaskMergeMode::ZEROING, typename U, \
            typename = detail::OfRegister<U>>                                         \
  void Name(U& dstReg, U& srcReg, MaskReg& mask) {                                    \
    detail::CheckType<T, U>();                                                        \
    aclsim::RegUnary(aclsim::RegOp1::op, detail::kDType<U>, &dstReg, &srcReg, mask,   \
                     detail::kMerges<mode>);                                          \
    ACLSIM_KEEP_FRAME();                                                              \
  }
ACLSIM_REG_UNARY(Exp, kExp)
ACLSIM_REG_UNARY(Ln, kLn)
ACLSIM_REG_UNARY(Log, kLn)
ACLSIM_REG_UNARY(Log2, kLog2)
ACLSIM_REG_UNARY(Log10, kLog10)
ACLSIM_REG_UNARY(Abs, kAbs)
ACLSIM_REG_UNARY(Sqrt, kSqrt)
ACLSIM_REG_UNARY(Relu, kRelu)
ACLSIM_REG_UNARY(Neg, kNeg)
ACLSIM_REG_UNARY(Not, kNot)
#undef ACLSIM_REG_UNARY

#define ACLSIM_REG_EXP_SUB(Name)                                                               \
  template <typename T = DefaultType, typename U = DefaultType,                                \
            RegLayout layout = RegLayout::ZERO, MaskMergeMode mode = MaskMergeMode::ZEROING,   \
            typename S, typename V, typename = detail::OfRegister<S>>                          \
  void Name(S& dstReg, V& srcReg0, V& srcReg1, MaskReg& mask) {                                \
    detail::CheckType<T, S>();                                                                 \
    detail::CheckType<U, V>();                                                                 \
    static_assert(std::is_same_v<typename V::ActualT, float>,                                  \
                  #Name " of half is not in this simulator yet");                              \
    aclsim::RegBinary(aclsim::RegOp2::kExpSub, detail::kDType<V>, &dstReg, &srcReg0, &srcReg1, \
                      mask, detail::kMerges<mode>);                                            \
    ACLSIM_KEEP_FRAME();                                                                       \
  }
ACLSIM_REG_EXP_SUB(ExpSub)
ACLSIM_REG_EXP_SUB(FusedExpSub)
#undef ACLSIM_REG_EXP_SUB

}  // namespace AscendC::Reg

#endif
