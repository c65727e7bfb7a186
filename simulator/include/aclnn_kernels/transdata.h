// SPDX-License-Identifier: Apache-2.0
// Storage formats.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// x under another format of the same rank: nothing moves.
const aclTensor* ReFormat(const aclTensor* x, const op::Format& format,
                          aclOpExecutor* executor = nullptr);
// x itself when nothing has to move; private formats are for matrix units, which are not simulated,
// and are refused.
const aclTensor* TransData(const aclTensor* x, op::Format dstPrimaryFormat, int64_t groups,
                           aclOpExecutor* executor);
const aclTensor* TransDataSpecial(const aclTensor* x, op::Format dstPrimaryFormat, int64_t groups,
                                  aclOpExecutor* executor);

}  // namespace l0op
