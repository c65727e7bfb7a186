// SPDX-License-Identifier: Apache-2.0
// Other path of level0/broadcast_to.h.
#ifndef ACLNN_KERNELS_BROADCAST_TO_H_
#define ACLNN_KERNELS_BROADCAST_TO_H_

#include "level0/broadcast_to.h"

#endif  // ACLNN_KERNELS_BROADCAST_TO_H_
