// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here.
#ifndef PAD_BROADCAST_H_
#define PAD_BROADCAST_H_

#include "kernel_operator.h"

#endif  // PAD_BROADCAST_H_
