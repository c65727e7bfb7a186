// SPDX-License-Identifier: Apache-2.0
// Using what CANN declares here is a compile error that says why.
#ifndef LIB_HCCL_HCCL_H_
#define LIB_HCCL_HCCL_H_

#include "kernel_operator.h"

#endif  // LIB_HCCL_HCCL_H_
