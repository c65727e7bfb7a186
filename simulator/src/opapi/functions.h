// SPDX-License-Identifier: Apache-2.0
// Bodies of libopapi's functions, as functions.py names them.
#pragma once

#include "opapi/call.h"

namespace opapi {

aclnnStatus Copy(aclTensor* self, const aclTensor* src, aclOpExecutor* executor);
aclnnStatus Cast(const aclTensor* self, aclDataType type, const aclTensor* out,
                 aclOpExecutor* executor);
aclnnStatus Fill(const aclTensor* self, int64_t value, aclOpExecutor* executor);
aclnnStatus Fill(const aclTensor* self, const aclScalar* value, aclOpExecutor* executor);
aclnnStatus Fill(const aclTensor* self, const aclTensor* value, aclOpExecutor* executor);
aclnnStatus Cat(const aclTensorList* tensors, int64_t dim, const aclTensor* out,
                aclOpExecutor* executor);
aclnnStatus Pad(const aclTensor* self, const aclIntArray* pad, const aclScalar* value,
                const aclTensor* out, aclOpExecutor* executor);
aclnnStatus FormatCast(const aclTensor* src, const aclTensor* dst, aclOpExecutor* executor);
aclnnStatus Arange(const aclScalar* start, const aclScalar* end, const aclScalar* step,
                   const aclTensor* out, aclOpExecutor* executor);
aclnnStatus Complex(const aclTensor* real, const aclTensor* imag, const aclTensor* out,
                    aclOpExecutor* executor);

enum class Relation : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };
aclnnStatus Compare(Relation relation, const aclTensor* self, const aclTensor* other,
                    const aclTensor* out, aclOpExecutor* executor);
aclnnStatus Compare(Relation relation, const aclTensor* self, const aclScalar* other,
                    const aclTensor* out, aclOpExecutor* executor);
aclnnStatus Equal(const aclTensor* self, const aclTensor* other, const aclTensor* out,
                  aclOpExecutor* executor);

enum class Logic : uint8_t { kAnd, kOr, kXor };
aclnnStatus Logical(Logic logic, const aclTensor* self, const aclTensor* other,
                    const aclTensor* out, aclOpExecutor* executor);
aclnnStatus LogicalNot(const aclTensor* self, const aclTensor* out, aclOpExecutor* executor);
aclnnStatus IsFinite(const aclTensor* self, const aclTensor* out, aclOpExecutor* executor);

}  // namespace opapi
