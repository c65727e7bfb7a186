// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#pragma once

#error \
    "simt_api/asc_simt.h is not in this simulator: SIMT functions are not simulated, vector functions of kernel_operator.h are"
