// SPDX-License-Identifier: Apache-2.0
// API that the simulator does not have yet, and whose absence would otherwise show as wrong numbers or as an overload puzzle.
// Using one is a compile error that names it.
#pragma once

#include "ascendc/tensor.h"
#include "ascendc/vec_sort.h"

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

#if !ACLSIM_HAS_PROPOSALS
#define ACLSIM_ELSEWHERE(Name, Instead)                                           \
  template <typename... Template, typename... Args>                               \
  void Name(Args&&...) {                                                          \
    static_assert(detail::kAbsent<Template..., Args...>,                          \
                  #Name " exists on architectures 1001 and 2002 only. " Instead); \
  }
ACLSIM_ELSEWHERE(ProposalConcat, "Next: sort with Concat and Sort.")
ACLSIM_ELSEWHERE(ProposalExtract, "Next: take the result apart with Extract.")
ACLSIM_ELSEWHERE(RpSort16, "Next: use Sort32.")
ACLSIM_ELSEWHERE(MrgSort4, "Next: use MrgSort.")
#undef ACLSIM_ELSEWHERE
#endif

}  // namespace AscendC
