// SPDX-License-Identifier: Apache-2.0
// Storage formats.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// x under another format of the same rank: nothing moves.
const aclTensor* ReFormat(const aclTensor* x, const op::Format& format,
                          aclOpExecutor* executor = nullptr);
// x itself when nothing has to move. Of the private formats FRACTAL_NZ is there: to it from elements of 1 or 2
// bytes, from it always.
const aclTensor* TransData(const aclTensor* x, op::Format dstPrimaryFormat, int64_t groups,
                           aclOpExecutor* executor);
const aclTensor* TransDataSpecial(const aclTensor* x, op::Format dstPrimaryFormat, int64_t groups,
                                  aclOpExecutor* executor);

}  // namespace l0op
