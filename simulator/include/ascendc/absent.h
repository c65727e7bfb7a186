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

// With types, or with numbers, as template arguments.
#define ACLSIM_ABSENT(Name)                                                                      \
  template <typename... Template, typename... Args>                                              \
  void Name(Args&&...) {                                                                         \
    static_assert(detail::kAbsent<Template..., Args...>, #Name " is not in this simulator yet"); \
  }                                                                                              \
  template <auto First, auto... Others, typename... Args>                                        \
  void Name(Args&&...) {                                                                         \
    static_assert(detail::kAbsent<decltype(First), Args...>,                                     \
                  #Name " is not in this simulator yet");                                        \
  }
#include "ascendc/instructions.def"

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
