// SPDX-License-Identifier: Apache-2.0
// API that the simulator does not have yet, and whose absence would otherwise show as wrong numbers or as an overload puzzle.
// Using one is a compile error that names it.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

namespace detail {
template <typename...>
constexpr bool kAbsent = false;
}

#define ACLSIM_ABSENT(Name)                                                                      \
  template <typename... Template, typename... Args>                                              \
  void Name(Args&&...) {                                                                         \
    static_assert(detail::kAbsent<Template..., Args...>, #Name " is not in this simulator yet"); \
  }
// Instructions of the vector core.
ACLSIM_ABSENT(CastDeq)
ACLSIM_ABSENT(CastDequant)
ACLSIM_ABSENT(BilinearInterpolation)
// Region proposals of older cores.
ACLSIM_ABSENT(ProposalConcat)
ACLSIM_ABSENT(ProposalExtract)
ACLSIM_ABSENT(RpSort16)
ACLSIM_ABSENT(MrgSort4)
// High-level functions.
ACLSIM_ABSENT(SoftmaxFlashV3)
ACLSIM_ABSENT(LayerNormGrad)
ACLSIM_ABSENT(LayerNormGradBeta)
ACLSIM_ABSENT(DeepNorm)
// Modes and registers.
ACLSIM_ABSENT(SetSaturationFlag)
ACLSIM_ABSENT(GetSaturationFlag)
ACLSIM_ABSENT(SetCtrlSpr)
ACLSIM_ABSENT(GetCtrlSpr)
ACLSIM_ABSENT(ResetCtrlSpr)
ACLSIM_ABSENT(SetStoreAtomicConfig)
ACLSIM_ABSENT(GetStoreAtomicConfig)
#undef ACLSIM_ABSENT

}  // namespace AscendC
