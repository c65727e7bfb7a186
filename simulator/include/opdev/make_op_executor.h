// SPDX-License-Identifier: Apache-2.0
// Macros of level-0 functions: create an executor, infer shapes, add a kernel launch.
#pragma once

#include <initializer_list>
#include <set>

#include "opdev/op_arg_def.h"
#include "opdev/op_executor.h"
#include "opdev/platform.h"

using namespace std;  // sources rely on it

namespace op {
namespace internal {

aclnnStatus InferShape(uint32_t opType, std::initializer_list<OpArgGroup> groups);
aclnnStatus AddKernelLaunch(uint32_t opType, aclOpExecutor* executor,
                            std::initializer_list<OpArgGroup> groups);

}  // namespace internal
}  // namespace op

#define CREATE_EXECUTOR() UniqueExecutor(__func__)

// Gives the outputs their shapes by the operator's registered shape inference.
#define INFER_SHAPE(KERNEL_NAME, ...) \
  op::internal::InferShape(KERNEL_NAME##OpTypeId(), {__VA_ARGS__})

// Runs tiling now and appends the launch. Uses the variable executor of the calling function.
#define ADD_TO_LAUNCHER_LIST_AICORE(KERNEL_NAME, ...) \
  op::internal::AddKernelLaunch(KERNEL_NAME##OpTypeId(), executor, {__VA_ARGS__})
