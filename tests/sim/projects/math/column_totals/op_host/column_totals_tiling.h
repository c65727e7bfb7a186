// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(ColumnTotalsTilingData)
TILING_DATA_FIELD_DEF(int64_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ColumnTotals, ColumnTotalsTilingData)

// Key 7 has a struct of its own, with the same names at other places.
BEGIN_TILING_DATA_DEF(ColumnTotalsScaledTilingData)
TILING_DATA_FIELD_DEF(uint32_t, columns);
TILING_DATA_FIELD_DEF(float, scale);
TILING_DATA_FIELD_DEF(int64_t, rows);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ColumnTotals_7, ColumnTotalsScaledTilingData)

}  // namespace optiling
