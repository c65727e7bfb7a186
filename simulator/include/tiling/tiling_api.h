// SPDX-License-Identifier: Apache-2.0
// Entry header of tiling sources.
#pragma once

#include "register/tilingdata_base.h"
#include "tiling/high_level_api.h"
#include "tiling/matmul_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/transpose_tiling.h"
