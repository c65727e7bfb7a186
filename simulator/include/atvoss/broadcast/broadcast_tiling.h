// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/atvoss/broadcast/broadcast_tiling.h.
#ifndef ATVOSS_BROADCAST_BROADCAST_TILING_H_
#define ATVOSS_BROADCAST_BROADCAST_TILING_H_

#include "op_common/atvoss/broadcast/broadcast_tiling.h"

#endif  // ATVOSS_BROADCAST_BROADCAST_TILING_H_
