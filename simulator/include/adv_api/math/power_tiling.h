// SPDX-License-Identifier: Apache-2.0
// Other path of tiling/high_level_api.h.
#ifndef ADV_API_MATH_POWER_TILING_H_
#define ADV_API_MATH_POWER_TILING_H_

#include "tiling/high_level_api.h"

#endif  // ADV_API_MATH_POWER_TILING_H_
