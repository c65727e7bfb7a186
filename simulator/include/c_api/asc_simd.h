// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#pragma once

#error \
    "c_api/asc_simd.h is not in this simulator: kernels of the C API are not simulated, those of kernel_operator.h are"
