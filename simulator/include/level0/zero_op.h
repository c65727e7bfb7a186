// SPDX-License-Identifier: Apache-2.0
// Zeros.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

const aclTensor* ZerosLike(const aclTensor* self, aclOpExecutor* executor);

}  // namespace l0op
