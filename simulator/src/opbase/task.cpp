// SPDX-License-Identifier: Apache-2.0
// Views of tasks, and tasks that are host functions.
#include "opbase/task.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "engine/gm_shadow.h"
#include "engine/options.h"
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

bool HasNoGaps(const TensorUse& use) {
  if (use.rowMajor) return true;
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < use.dims.size(); ++i) {
    if (use.dims[i] != 1) dims.emplace_back(std::abs(use.strides[i]), use.dims[i]);
  }
  std::sort(dims.begin(), dims.end());
  int64_t inside = 1;
  for (const auto& [stride, size] : dims) {
    if (stride != inside) return false;
    inside *= size;
  }
  return true;
}

HostTask::HostTask(std::string taskName, std::vector<TensorUse> inputs, TensorUse out, Flow flow,
                   Body body)
    : Task(std::move(taskName)), flow_(flow), body_(std::move(body)) {
  inputCount = inputs.size();
  uses = std::move(inputs);
  uses.push_back(std::move(out));
}

aclsim::TaskResult HostTask::Run(const TaskInput& input) const {
  std::vector<uint8_t*> first;
  for (size_t i = 0; i < uses.size(); ++i) {
    first.push_back(input.addrs[i] == nullptr ? nullptr
                                              : input.addrs[i] + (uses[i].first - uses[i].begin));
  }
  try {
    body_(uses, first);
    if (aclsim::CheckedMode()) MarkWritten(input);
  } catch (const std::exception& error) {
    return {kExecutionFailed, name + ": " + error.what()};
  }
  return {};
}

// Unwritten memory of the inputs goes on to the output: the kernel that reads it there is
// told, as it would be without the function in between.
void HostTask::MarkWritten(const TaskInput& input) const {
  bool defined = true;
  for (size_t i = 0; i < inputCount; ++i) {
    const auto bytes = static_cast<uint64_t>(uses[i].Bytes());
    defined = defined && aclsim::FirstUndefinedGm(input.addrs[i], bytes) == bytes;
  }
  const auto outBytes = static_cast<uint64_t>(uses.back().Bytes());
  if ((defined && HasNoGaps(uses.back())) || flow_ == Flow::kAll) {
    aclsim::MarkGm(input.addrs.back(), outBytes, defined);
  } else if (defined && aclsim::FirstUndefinedGm(input.addrs.back(), outBytes) == outBytes) {
    return;
  } else if (flow_ == Flow::kMove) {
    MoveShadow(input);
  } else {
    MergeShadows(input);
  }
}

void HostTask::MoveShadow(const TaskInput& input) const {
  const TensorUse& in = uses[0];
  const TensorUse& out = uses[1];
  const auto outBytes = static_cast<uint64_t>(out.Bytes());
  std::vector<uint8_t> from(static_cast<size_t>(in.Bytes()));
  std::vector<uint8_t> to(outBytes);
  aclsim::LoadGmShadow(input.addrs[0], from.size(), from.data());
  aclsim::LoadGmShadow(input.addrs[1], outBytes, to.data());
  body_(uses, {from.data() + (in.first - in.begin), to.data() + (out.first - out.begin)});
  aclsim::StoreGmShadow(input.addrs[1], outBytes, to.data());
}

void HostTask::MergeShadows(const TaskInput& input) const {
  const TensorUse& out = uses.back();
  const auto outSize = static_cast<size_t>(ge::GetSizeByDataType(out.dataType));
  std::vector<uint8_t> to(static_cast<size_t>(out.Bytes()), 0);
  for (size_t i = 0; i < inputCount; ++i) {
    const auto inSize = static_cast<size_t>(ge::GetSizeByDataType(uses[i].dataType));
    std::vector<uint8_t> from(static_cast<size_t>(uses[i].Bytes()));
    aclsim::LoadGmShadow(input.addrs[i], from.size(), from.data());
    const size_t step = from.size() == inSize ? 0 : inSize;
    for (size_t at = 0; at * outSize < to.size(); ++at) {
      const auto element = from.begin() + static_cast<std::ptrdiff_t>(at * step);
      if (*std::max_element(element, element + static_cast<std::ptrdiff_t>(inSize)) != 0) {
        std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(at * outSize), outSize, UINT8_MAX);
      }
    }
  }
  aclsim::StoreGmShadow(input.addrs.back(), to.size(), to.data());
}

}  // namespace op::internal
