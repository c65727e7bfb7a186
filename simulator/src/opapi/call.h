// SPDX-License-Identifier: Apache-2.0
// The first stages of libopapi's functions share these: checks of arguments, and the plan.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "opdev/common_types.h"
#include "opdev/op_errno.h"
#include "opdev/op_executor.h"

namespace opapi {

// A pointer argument of a function, by its name.
struct Argument {
  const char* name;
  const void* pointer;
  const aclTensor* tensor;  // nullptr when it is of another kind
  bool anyFormat = false;   // also a private one
};
inline Argument Pointer(const char* name, const aclTensor* tensor) {
  return {name, tensor, tensor};
}
inline Argument Pointer(const char* name, const void* pointer) { return {name, pointer, nullptr}; }
inline Argument AnyFormat(const char* name, const aclTensor* tensor) {
  return {name, tensor, tensor, true};
}

// Adds the tasks of one call to its executor, or reports why it cannot.
using Body = std::function<aclnnStatus(aclOpExecutor* executor)>;

// Checks what holds for every function (no null pointer, tensors with elements where their dims say
// and at most 8 dims), then makes the executor and lets body fill it.
aclnnStatus Plan(std::initializer_list<Argument> arguments, uint64_t* workspaceSize,
                 aclOpExecutor** executor, const Body& body);

// Reports "<name>: got <got>, want <want>" as an invalid parameter.
aclnnStatus Refuse(const aclOpExecutor* executor, const aclTensor* tensor, const std::string& got,
                   const std::string& want);
aclnnStatus Refuse(const char* name, const std::string& got, const std::string& want);

// 161002 when the elements of a tensor are of a type that has no arithmetic, such as float8.
aclnnStatus CheckElements(const aclOpExecutor* executor,
                          std::initializer_list<const aclTensor*> tensors);
aclnnStatus CheckElements(const char* name, const aclScalar* scalar);

std::string TypeText(op::DataType type);
std::string ShapeText(const op::Shape& shape);

// A view of x that repeats its elements up to shape, without a copy. nullptr, with a report, when x
// leaves its storage; the shapes fit.
const aclTensor* Broadcast(const aclTensor* x, const op::Shape& shape, aclOpExecutor* executor);

// A number as a tensor of rank 0. nullptr with a report.
const aclTensor* Number(int64_t value, op::DataType type, aclOpExecutor* executor);
const aclTensor* Number(const aclScalar* value, op::DataType type, aclOpExecutor* executor);

// Adds a copy of x to out, with conversion and broadcasting as needed.
aclnnStatus CopyInto(const aclTensor* x, const aclTensor* out, aclOpExecutor* executor);

}  // namespace opapi
