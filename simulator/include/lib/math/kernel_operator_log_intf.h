// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here.
#ifndef LIB_MATH_KERNEL_OPERATOR_LOG_INTF_H_
#define LIB_MATH_KERNEL_OPERATOR_LOG_INTF_H_

#include "kernel_operator.h"

#endif  // LIB_MATH_KERNEL_OPERATOR_LOG_INTF_H_
