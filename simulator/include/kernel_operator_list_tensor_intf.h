// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here.
#ifndef KERNEL_OPERATOR_LIST_TENSOR_INTF_H_
#define KERNEL_OPERATOR_LIST_TENSOR_INTF_H_

#include "kernel_operator.h"

#endif  // KERNEL_OPERATOR_LIST_TENSOR_INTF_H_
