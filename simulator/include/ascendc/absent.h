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
ACLSIM_ABSENT(IBSet)
ACLSIM_ABSENT(IBWait)
ACLSIM_ABSENT(InitDetermineComputeWorkspace)
ACLSIM_ABSENT(WaitPreBlock)
ACLSIM_ABSENT(NotifyNextBlock)
#undef ACLSIM_ABSENT

}  // namespace AscendC
