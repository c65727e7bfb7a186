// SPDX-License-Identifier: Apache-2.0
// Here so that the error says more than that the file is absent.
#pragma once

#error "tiling/hccl/hccl_tiling.h is not in this simulator: kernels do not communicate"
