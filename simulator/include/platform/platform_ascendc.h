// SPDX-License-Identifier: Apache-2.0
// Other path of tiling/platform/platform_ascendc.h.
#ifndef PLATFORM_PLATFORM_ASCENDC_H_
#define PLATFORM_PLATFORM_ASCENDC_H_

#include "tiling/platform/platform_ascendc.h"

#endif  // PLATFORM_PLATFORM_ASCENDC_H_
