// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here.
#ifndef KERNEL_TYPE_H_
#define KERNEL_TYPE_H_

#include "kernel_operator.h"

#endif  // KERNEL_TYPE_H_
