// SPDX-License-Identifier: Apache-2.0
// Entry header of tiling sources.
#ifndef TILING_TILING_API_H_
#define TILING_TILING_API_H_

#include "register/tilingdata_base.h"
#include "tiling/high_level_api.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/transpose_tiling.h"

#endif  // TILING_TILING_API_H_
