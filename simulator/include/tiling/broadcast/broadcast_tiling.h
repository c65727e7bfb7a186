// SPDX-License-Identifier: Apache-2.0
// Other path of what tiling asks about Broadcast.
#ifndef TILING_BROADCAST_BROADCAST_TILING_H_
#define TILING_BROADCAST_BROADCAST_TILING_H_

#include "tiling/high_level_api.h"

#endif  // TILING_BROADCAST_BROADCAST_TILING_H_
