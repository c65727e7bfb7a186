// SPDX-License-Identifier: Apache-2.0
// Zeros.
#ifndef LEVEL0_ZERO_OP_H_
#define LEVEL0_ZERO_OP_H_

#include "opdev/op_executor.h"

namespace l0op {

const aclTensor* ZerosLike(const aclTensor* self, aclOpExecutor* executor);

}  // namespace l0op

#endif  // LEVEL0_ZERO_OP_H_
