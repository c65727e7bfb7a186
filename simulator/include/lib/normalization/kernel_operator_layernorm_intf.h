// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here.
#ifndef LIB_NORMALIZATION_KERNEL_OPERATOR_LAYERNORM_INTF_H_
#define LIB_NORMALIZATION_KERNEL_OPERATOR_LAYERNORM_INTF_H_

#include "kernel_operator.h"

#endif  // LIB_NORMALIZATION_KERNEL_OPERATOR_LAYERNORM_INTF_H_
