// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/atvoss/reduce/reduce_tiling.h.
#ifndef ATVOSS_REDUCE_REDUCE_TILING_H_
#define ATVOSS_REDUCE_REDUCE_TILING_H_

#include "op_common/atvoss/reduce/reduce_tiling.h"

#endif  // ATVOSS_REDUCE_REDUCE_TILING_H_
