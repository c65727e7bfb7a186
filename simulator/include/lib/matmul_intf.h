// SPDX-License-Identifier: Apache-2.0
// Matmul of the high-level API. A kernel of cube cores alone defines ASCENDC_CUBE_ONLY before it includes this header. Vector kernels
// include it for the rest of the API; using what is below is a compile error that says why.
#pragma once

#include "ascendc/matmul.h"
#include "kernel_operator.h"

namespace AscendC {

#ifdef ASCENDC_CUBE_ONLY
template <typename A, typename B, typename C, typename Bias = C, const auto& config = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
using Matmul = MatmulImpl<A, B, C, Bias, config, CallBack, Policy>;
#else
template <typename A, typename B, typename C, typename Bias = C, const auto& config = CFG_NORM,
          typename CallBack = MatmulCallBackFunc<>,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
class Matmul {
  static_assert(detail::kAbsent<A, B, C, Bias, CallBack>,
                "Matmul that vector cores call (MIX kernels) is not simulated yet. In a kernel of "
                "cube cores alone, define ASCENDC_CUBE_ONLY before the include of "
                "lib/matmul_intf.h; docs/simulator.md says what is simulated");
};
#endif

}  // namespace AscendC

namespace matmul {
using namespace AscendC;
}  // namespace matmul

// Programs without a using of the namespace have it too.
using AscendC::GetSysWorkSpacePtr;

#define REGIST_MATMUL_OBJ(tpipe, workspace, ...) \
  (static_cast<void>(workspace), ::AscendC::detail::mm::Regist(tpipe, __VA_ARGS__))
