// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

const aclTensor* Doubled(const aclTensor* self, aclOpExecutor* executor);

}  // namespace l0op
