// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication needs cube cores, which the simulator does not have. Vector kernels include this header for the rest of
// the API; using what is below is a compile error that names it.
#pragma once

#include "kernel_operator.h"

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR };

namespace AscendC {

template <TPosition position, CubeFormat format, typename T, auto... options>
struct MatmulType {
  using Type = T;
};

template <typename A, typename B, typename C, typename Bias = C, auto... options>
class Matmul {
  static_assert(detail::kAbsent<A, B, C, Bias>,
                "Matmul is not in this simulator: it has vector cores only");
};

}  // namespace AscendC

namespace matmul {
using AscendC::Matmul;
using AscendC::MatmulType;
}  // namespace matmul

#define REGIST_MATMUL_OBJ(...) \
  static_assert(false, "REGIST_MATMUL_OBJ is not in this simulator: it has vector cores only")
