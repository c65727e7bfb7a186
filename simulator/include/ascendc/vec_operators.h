// SPDX-License-Identifier: Apache-2.0
// c = a + b on tensors: instructions over the whole of c; comparisons over the whole of their sources.
#pragma once

#include "ascendc/vec_cmpsel.h"

namespace AscendC {

namespace detail {
template <typename T>
struct BinaryExpression {
  using TensorExpression = void;
  aclsim::Op2 op;
  LocalTensor<T> a, b;
  void StoreIn(const LocalTensor<T>& dst) const {
    aclsim::VecBinary(op, dst, a, b, aclsim::CountCtl(dst.GetSize()));
  }
};
template <typename T>
struct CompareExpression {
  using TensorExpression = void;
  CMPMODE mode;
  LocalTensor<T> a, b;
  template <typename U>
  void StoreIn(const LocalTensor<U>& dst) const {
    Compare(dst, a, b, mode, a.GetSize());
  }
};
}  // namespace detail

#define ACLSIM_OPERATOR(symbol, op)                                                               \
  template <typename T>                                                                           \
  detail::BinaryExpression<T> operator symbol(const LocalTensor<T>& a, const LocalTensor<T>& b) { \
    return {op, a, b};                                                                            \
  }
ACLSIM_OPERATOR(+, aclsim::Op2::kAdd)
ACLSIM_OPERATOR(-, aclsim::Op2::kSub)
ACLSIM_OPERATOR(*, aclsim::Op2::kMul)
ACLSIM_OPERATOR(/, aclsim::Op2::kDiv)
ACLSIM_OPERATOR(|, aclsim::Op2::kOr)
ACLSIM_OPERATOR(&, aclsim::Op2::kAnd)
#undef ACLSIM_OPERATOR

#define ACLSIM_COMPARISON(symbol, mode)                                                            \
  template <typename T>                                                                            \
  detail::CompareExpression<T> operator symbol(const LocalTensor<T>& a, const LocalTensor<T>& b) { \
    return {mode, a, b};                                                                           \
  }
ACLSIM_COMPARISON(<, CMPMODE::LT)
ACLSIM_COMPARISON(>, CMPMODE::GT)
ACLSIM_COMPARISON(<=, CMPMODE::LE)
ACLSIM_COMPARISON(>=, CMPMODE::GE)
ACLSIM_COMPARISON(==, CMPMODE::EQ)
ACLSIM_COMPARISON(!=, CMPMODE::NE)
#undef ACLSIM_COMPARISON

}  // namespace AscendC
