// SPDX-License-Identifier: Apache-2.0
// Matmul of the high-level API. A kernel of cube cores alone defines ASCENDC_CUBE_ONLY before it includes this header; in a MIX kernel
// vector cores call. Vector kernels include it for the rest of the API.
#pragma once

#include "ascendc/matmul_regist.h"
#include "kernel_operator.h"

namespace AscendC {

#ifdef ASCENDC_CUBE_ONLY
template <typename A, typename B, typename C, typename Bias = C, const auto& config = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
using Matmul = MatmulImpl<A, B, C, Bias, config, CallBack, Policy>;
#elif !defined(__NPU_ARCH__) || __NPU_ARCH__ == 2201 || __NPU_ARCH__ == 3510
template <typename A, typename B, typename C, typename Bias = C, const auto& config = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
using Matmul = MatmulClient<A, B, C, Bias, config, CallBack, Policy>;
#else
template <typename A, typename B, typename C, typename Bias = C, const auto& config = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
class Matmul {
  static_assert(
      detail::kAbsent<A, B, C, Bias, CallBack>,
      "matrix units: Matmul is simulated for architectures 2201 and 3510 (Atlas A2, A3 and "
      "Ascend 950); docs/simulator.md says what is");
};
#endif

}  // namespace AscendC

namespace matmul {
using namespace AscendC;
}  // namespace matmul

// Programs without a using of the namespace have it too.
using AscendC::GetSysWorkSpacePtr;

// On the AIC of a MIX kernel the function ends here, when all AIVs have left.
#ifdef ASCENDC_CUBE_ONLY
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) \
  (static_cast<void>(workspace), ::AscendC::detail::mm::Regist(tpipe, __VA_ARGS__))
#else
#define REGIST_MATMUL_OBJ(tpipe, workspace, ...)                             \
  do {                                                                       \
    if (::AscendC::detail::mm::RegistMixed(tpipe, workspace, __VA_ARGS__)) { \
      return;                                                                \
    }                                                                        \
  } while (false)
#endif
