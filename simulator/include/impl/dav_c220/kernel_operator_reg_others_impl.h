// SPDX-License-Identifier: Apache-2.0
// Other path of kernel_operator.h: the device API is one header here.
#ifndef IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H_
#define IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H_

#include "kernel_operator.h"

#endif  // IMPL_DAV_C220_KERNEL_OPERATOR_REG_OTHERS_IMPL_H_
