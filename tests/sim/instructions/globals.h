// SPDX-License-Identifier: Apache-2.0
// A table in a header, as kernels share them.
#pragma once

#include "kernel_operator.h"

inline constexpr __gm__ int16_t kHeaderTable[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                    8, 9, 10, 11, 12, 13, 14, 15};
