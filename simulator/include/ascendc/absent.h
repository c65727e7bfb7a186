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
ACLSIM_ABSENT(SetAtomicAdd)
ACLSIM_ABSENT(SetAtomicMax)
ACLSIM_ABSENT(SetAtomicMin)
ACLSIM_ABSENT(SetAtomicNone)
ACLSIM_ABSENT(DisableDmaAtomic)
ACLSIM_ABSENT(SyncAll)
ACLSIM_ABSENT(IBSet)
ACLSIM_ABSENT(IBWait)
ACLSIM_ABSENT(InitDetermineComputeWorkspace)
ACLSIM_ABSENT(WaitPreBlock)
ACLSIM_ABSENT(NotifyNextBlock)
#undef ACLSIM_ABSENT

// Names with template arguments that are values.
template <uint8_t modeId, pipe_t pipe, typename... Args>
void CrossCoreSetFlag(Args&&...) {
  static_assert(detail::kAbsent<Args...>, "CrossCoreSetFlag is not in this simulator yet");
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S, typename... Args>
void CrossCoreWaitFlag(Args&&...) {
  static_assert(detail::kAbsent<Args...>, "CrossCoreWaitFlag is not in this simulator yet");
}
template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_ALL,
          typename... Args>
void DataCacheCleanAndInvalid(Args&&...) {
  static_assert(detail::kAbsent<T, Args...>,
                "DataCacheCleanAndInvalid is not in this simulator yet");
}
template <bool isAIVOnly, typename... Args>
void SyncAll(Args&&...) {
  static_assert(detail::kAbsent<Args...>, "SyncAll is not in this simulator yet");
}

}  // namespace AscendC
