// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(ClipRowsLimits)
TILING_DATA_FIELD_DEF(float, low);
TILING_DATA_FIELD_DEF(float, high);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ClipRowsLimitsOp, ClipRowsLimits)

BEGIN_TILING_DATA_DEF(ClipRowsTilingData)
TILING_DATA_FIELD_DEF(uint8_t, flag);
TILING_DATA_FIELD_DEF(int64_t, rows);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 3, sizes);
TILING_DATA_FIELD_DEF_STRUCT(ClipRowsLimits, limits);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ClipRows, ClipRowsTilingData)

}  // namespace optiling
