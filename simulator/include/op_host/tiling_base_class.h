// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/tiling_base_class.h.
#ifndef OP_HOST_TILING_BASE_CLASS_H_
#define OP_HOST_TILING_BASE_CLASS_H_

#include "op_common/op_host/tiling_base_class.h"

#endif  // OP_HOST_TILING_BASE_CLASS_H_
