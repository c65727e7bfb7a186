// SPDX-License-Identifier: Apache-2.0
// Other path of opdev/platform.h.
#ifndef ACLNN_OPDEV_PLATFORM_H_
#define ACLNN_OPDEV_PLATFORM_H_

#include "opdev/platform.h"

#endif  // ACLNN_OPDEV_PLATFORM_H_
