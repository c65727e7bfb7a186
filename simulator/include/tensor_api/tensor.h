// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#pragma once

#error \
    "tensor_api/tensor.h is not in this simulator: kernels of the Tensor API (AscendC::Te) are not simulated, those of kernel_operator.h are"
