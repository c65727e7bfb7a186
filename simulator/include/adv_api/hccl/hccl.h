// SPDX-License-Identifier: Apache-2.0
// Using what CANN declares here is a compile error that says why.
#ifndef ADV_API_HCCL_HCCL_H_
#define ADV_API_HCCL_HCCL_H_

#include "kernel_operator.h"

#endif  // ADV_API_HCCL_HCCL_H_
