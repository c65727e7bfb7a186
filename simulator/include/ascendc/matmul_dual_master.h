// SPDX-License-Identifier: Apache-2.0
// Matmul with enableMixDualMaster: each half of a MIX kernel runs its own code. The AIC multiplies where it comes to a call, without a
// request of its AIVs; in the AIVs' half the calls do nothing. Flags of the kernel's own order the two.
#pragma once

#include "ascendc/matmul_client.h"

namespace AscendC {

namespace detail::mm {

// The half of the AIVs.
class Elsewhere {
 public:
  static constexpr bool kHasConstantTiling = false;
#define ACLSIM_ELSEWHERE_(name) \
  template <typename... Args>   \
  void name(Args&&...) {}
  ACLSIM_ELSEWHERE_(Init)
  ACLSIM_ELSEWHERE_(End)
  ACLSIM_ELSEWHERE_(SetSubBlockIdx)
  ACLSIM_ELSEWHERE_(SetOrgShape)
  ACLSIM_ELSEWHERE_(SetSingleShape)
  ACLSIM_ELSEWHERE_(SetTail)
  ACLSIM_ELSEWHERE_(SetTensorA)
  ACLSIM_ELSEWHERE_(SetTensorB)
  ACLSIM_ELSEWHERE_(SetBias)
  ACLSIM_ELSEWHERE_(ClearBias)
  ACLSIM_ELSEWHERE_(DisableBias)
  ACLSIM_ELSEWHERE_(SetQuantScalar)
  ACLSIM_ELSEWHERE_(SetQuantVector)
  ACLSIM_ELSEWHERE_(SetHF32)
  ACLSIM_ELSEWHERE_(SetUserDefInfo)
  ACLSIM_ELSEWHERE_(SetSelfDefineData)
  ACLSIM_ELSEWHERE_(SetLocalWorkspace)
  ACLSIM_ELSEWHERE_(SetWorkspace)
#undef ACLSIM_ELSEWHERE_
  template <bool sync = true, typename... Args>
  void IterateAll(Args&&...) {}
};

}  // namespace detail::mm

template <typename A, typename B, typename C, typename Bias, const auto& given, typename CallBack,
          template <const auto&, typename...> class Policy>
class MatmulClient<A, B, C, Bias, given, CallBack, Policy, true>
    : std::conditional_t<g_coreType == AIC, MatmulImpl<A, B, C, Bias, given, CallBack, Policy>,
                         detail::mm::Elsewhere> {
  using Impl = MatmulImpl<A, B, C, Bias, given, CallBack, Policy>;
  using Half = std::conditional_t<g_coreType == AIC, Impl, detail::mm::Elsewhere>;
  static_assert(sizeof(Impl) > 0, "Matmul: both halves say what the AIC's cannot do");
  static_assert(A::layout == LayoutMode::NONE,
                "Matmul: IterateBatch does not go with enableMixDualMaster");

 public:
  static constexpr bool kIsDualMaster = true;
  using Half::ClearBias, Half::DisableBias, Half::End, Half::IterateAll, Half::kHasConstantTiling,
      Half::SetBias, Half::SetHF32, Half::SetLocalWorkspace, Half::SetOrgShape,
      Half::SetQuantScalar, Half::SetQuantVector, Half::SetSelfDefineData, Half::SetSingleShape,
      Half::SetSubBlockIdx, Half::SetTail, Half::SetTensorA, Half::SetTensorB, Half::SetUserDefInfo,
      Half::SetWorkspace;
  void Init(const TCubeTiling* cubeTiling, TPipe* pipe = nullptr) {
    if (GetTaskRatio() == 2 && !(A::ibShare && B::ibShare)) {
      detail::mm::Misuse("Init", "Set ibShare in the MatmulType of A and B, or run one AIV.",
                         "enableMixDualMaster with two AIVs for each AIC wants A and B of both");
    }
    Half::Init(cubeTiling, pipe);
  }
  template <bool sync = true, typename... Args>
  bool Iterate(Args&&...) {
    static_assert(kAbsent<sync>, "Matmul: with enableMixDualMaster, C comes by IterateAll alone");
    return false;
  }
  template <bool sync = true, typename... Args>
  void GetTensorC(Args&&...) {
    static_assert(kAbsent<sync>, "Matmul: with enableMixDualMaster, C comes by IterateAll alone");
  }

 private:
  template <bool>
  static constexpr bool kAbsent = false;
};

}  // namespace AscendC
