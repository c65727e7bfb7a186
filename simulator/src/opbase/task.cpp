// SPDX-License-Identifier: Apache-2.0
// Views of tasks, and tasks that are host functions.
#include "opbase/task.h"

#include <exception>

#include "opbase/view.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

namespace op::internal {
namespace {

// The runtime's code for an execution that failed inside.
constexpr int32_t kExecutionFailed = 507035;

}  // namespace

bool MakeUse(const aclTensor* tensor, std::string name, TensorUse* use) {
  // The view of a private format says nothing about memory, its storage shape does.
  const bool isPrivate = IsPrivateFormat(tensor->GetStorageFormat());
  const Shape& shape = isPrivate ? tensor->GetStorageShape() : tensor->GetViewShape();
  Strides strides = tensor->GetViewStrides();
  if (isPrivate) ToContiguousStrides(shape, strides);
  use->storage = HandleMaker::StorageOf(tensor);
  use->dataType = tensor->GetDataType();
  use->dims.clear();
  for (size_t i = 0; i < shape.GetDimNum(); ++i) use->dims.push_back(shape[i]);
  use->strides.assign(strides.begin(), strides.end());
  use->rowMajor = IsRowMajor(shape, strides);
  use->name = std::move(name);
  const int64_t offset = tensor->GetViewOffset();
  if (!ByteRange(shape, strides, offset, use->dataType, &use->begin, &use->end) || use->begin < 0) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID,
            "%s: %s%s with strides %s and offset %ld has no place in memory", use->name.c_str(),
            ToString(use->dataType).GetString(), ToString(shape).GetString(),
            ToString(strides).GetString(), static_cast<long>(offset));
    return false;
  }
  const int size = ge::GetSizeByDataType(use->dataType);
  use->first = size >= ge::kDataTypeSizeBitOffset ? use->begin : offset * size;
  return true;
}

HostTask::HostTask(std::string taskName, std::vector<TensorUse> inputs,
                   std::vector<TensorUse> outputs, Body body)
    : Task(std::move(taskName)), body_(std::move(body)) {
  inputCount = inputs.size();
  uses = std::move(inputs);
  for (TensorUse& output : outputs) uses.push_back(std::move(output));
}

aclsim::TaskResult HostTask::Run(const TaskInput& input) const {
  std::vector<uint8_t*> first;
  for (size_t i = 0; i < uses.size(); ++i) {
    first.push_back(input.addrs[i] == nullptr ? nullptr
                                              : input.addrs[i] + (uses[i].first - uses[i].begin));
  }
  try {
    body_(uses, first);
  } catch (const std::exception& error) {
    return {kExecutionFailed, name + ": " + error.what()};
  }
  return {};
}

}  // namespace op::internal
