// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(MatmulLeakyReluTilingData)
TILING_DATA_FIELD_DEF(float, negativeSlope);
TILING_DATA_FIELD_DEF_STRUCT(TCubeTiling, cube);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(MatmulLeakyRelu, MatmulLeakyReluTilingData)

}  // namespace optiling
