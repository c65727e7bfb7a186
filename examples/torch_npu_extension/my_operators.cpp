// SPDX-License-Identifier: Apache-2.0
// An operator of an installed package as an operator of PyTorch, by the macro that torch_npu has for extensions.
#include <torch/library.h>

#include "op_plugin/include/npu_cpp_extension.h"

namespace {

at::Tensor HuberGrad(const at::Tensor& x, double slope) {
  at::Tensor y = at::empty_like(x);
  EXEC_NPU_CMD_EXT(aclnnHuberGrad, x, slope, y);
  return y;
}

}  // namespace

TORCH_LIBRARY(mine, library) { library.def("huber_grad(Tensor x, float slope) -> Tensor"); }

TORCH_LIBRARY_IMPL(mine, PrivateUse1, library) { library.impl("huber_grad", &HuberGrad); }
