// SPDX-License-Identifier: Apache-2.0
// Other path of tiling/high_level_api.h.
#ifndef TILING_MATH_SIGN_TILING_H_
#define TILING_MATH_SIGN_TILING_H_

#include "tiling/high_level_api.h"

#endif  // TILING_MATH_SIGN_TILING_H_
