// SPDX-License-Identifier: Apache-2.0
// Conversion between data types.
#pragma once

#include "opdev/make_op_executor.h"
#include "opdev/op_executor.h"

namespace l0op {

// self itself when it has that type. Rounds to nearest even; float to integer truncates and
// saturates, NaN is 0; integer to integer wraps; anything but zero is true; complex has imaginary
// part 0, and loses it towards real types. nullptr for types other than bool, the integers, the
// floats of 16 bits and up, and complex64/128.
const aclTensor* Cast(const aclTensor* self, op::DataType dstDtype, aclOpExecutor* executor);

}  // namespace l0op
