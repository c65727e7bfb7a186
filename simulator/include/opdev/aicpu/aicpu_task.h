// SPDX-License-Identifier: Apache-2.0
// AI CPU operators. The simulator has no AI CPU, so adding such a task is error 561003 with a
// message.
#pragma once

#include <initializer_list>
#include <string>

#include "opdev/make_op_executor.h"

namespace op {
namespace internal {

aclnnStatus RefuseAiCpuTask(const char* opName);

class AicpuTaskSpace {
 public:
  explicit AicpuTaskSpace(const char* opName) : op_name_(opName) {}
  template <typename... Ts>
  explicit AicpuTaskSpace(const char* opName, const Ts&...) : op_name_(opName) {}
  void SetRef(size_t, bool = true) {}  // an input and an output that are one buffer
  const char* OpName() const { return op_name_; }

 private:
  const char* op_name_;
};

}  // namespace internal
}  // namespace op

#define OP_ATTR_NAMES op::FVector<std::string>
#define ADD_TO_LAUNCHER_LIST_AICPU(KERNEL_NAME, attrNames, ...) \
  (op::internal::Unused(space, attrNames, ##__VA_ARGS__),       \
   op::internal::RefuseAiCpuTask(#KERNEL_NAME))
