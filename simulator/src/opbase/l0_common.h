// SPDX-License-Identifier: Apache-2.0
// l0op functions share these.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "opbase/executor.h"
#include "opbase/view.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

namespace l0op {

// False, with a report, when an argument of a l0op function is NULL.
bool CheckL0Args(const char* function, const aclTensor* x, const aclOpExecutor* executor);

// A contiguous temporary of shape; nullptr with a report when there is none.
aclTensor* NewResult(const op::Shape& shape, op::DataType dataType, op::Format format,
                     aclOpExecutor* executor);

// Adds a host function with input views and one output view. False when a view has no place in
// memory.
bool AddHostTask(const char* name, const std::vector<const aclTensor*>& inputs,
                 const aclTensor* out, op::internal::Flow flow, op::internal::HostTask::Body body,
                 aclOpExecutor* executor, bool isViewCopy = false);

// Elements in memory: a private format holds what its storage shape says, padding included.
int64_t StoredElements(const aclTensor* tensor);

// The wider type that elements are computed in: double or int64_t.
template <typename T>
constexpr op::DataType kWide =
    std::is_same_v<T, double> ? op::DataType::DT_DOUBLE : op::DataType::DT_INT64;

// Returns which dims a reduction over axes leaves out, all for none given, and the shape of its result.
// False, with a report, when there is no such axis.
bool ReducedDims(const char* name, const op::Shape& shape, const aclIntArray* axes, bool keepDims,
                 std::vector<bool>* reduced, op::Shape* result);

// Adds a copy of in to out, element by element in row-major order; their shapes may differ, their
// sizes must not.
bool AddCopy(const char* name, const aclTensor* in, const aclTensor* out, aclOpExecutor* executor,
             bool isViewCopy = false);

// FRACTAL_NZ lays a matrix out as columns of blocks, each of 16 rows and C0 columns; what is missing in the last
// blocks is 0. The formats with a C0 in their names are it, too.
bool IsNz(op::Format format);
// The storage of such matrices; empty for a shape of less than two dims.
op::Shape NzShape(const op::Shape& shape, int64_t width);

// Adds a copy of in to out, one of which may be FRACTAL_NZ: its storage shape says how wide the blocks are.
// False, with a report, for other private formats.
bool AddFormatCast(const char* name, const aclTensor* in, const aclTensor* out,
                   aclOpExecutor* executor);

}  // namespace l0op
