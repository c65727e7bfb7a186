// SPDX-License-Identifier: Apache-2.0
// Other path of tiling/high_level_api.h.
#ifndef LIB_MATH_SIN_TILING_H_
#define LIB_MATH_SIN_TILING_H_

#include "tiling/high_level_api.h"

#endif  // LIB_MATH_SIN_TILING_H_
