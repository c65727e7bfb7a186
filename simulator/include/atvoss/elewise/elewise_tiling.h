// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/atvoss/elewise/elewise_tiling.h.
#ifndef ATVOSS_ELEWISE_ELEWISE_TILING_H_
#define ATVOSS_ELEWISE_ELEWISE_TILING_H_

#include "op_common/atvoss/elewise/elewise_tiling.h"

#endif  // ATVOSS_ELEWISE_ELEWISE_TILING_H_
