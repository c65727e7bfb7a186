// SPDX-License-Identifier: Apache-2.0
// Entry header of tiling sources. A kernel that includes it gets the structs alone: host headers have enumerators where kernels have macros.
#pragma once

#ifdef DT_FLOAT
#include "kernel_tiling/kernel_tiling.h"
#else
#include "register/tilingdata_base.h"
#include "tiling/high_level_api.h"
#include "tiling/matmul_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/transpose_tiling.h"
#endif
