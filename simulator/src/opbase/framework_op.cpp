// SPDX-License-Identifier: Apache-2.0
#include "opdev/framework_op.h"

#include "opbase/l0_common.h"

namespace op {

namespace {

bool IsPlaced(const char* function, const aclTensor* tensor, bool onHost,
              const aclOpExecutor* executor) {
  if (!l0op::CheckL0Args(function, tensor, executor)) return false;
  if ((tensor->GetPlacement() == gert::kOnHost) == onHost) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: the tensor is on the %s, want one on the %s", function,
          onHost ? "device" : "host", onHost ? "host" : "device");
  return false;
}

const aclTensor* ToDevice(const char* function, const aclTensor* src, aclOpExecutor* executor) {
  if (!IsPlaced(function, src, true, executor)) return nullptr;
  aclTensor* copy =
      l0op::NewResult(src->GetViewShape(), src->GetDataType(), src->GetViewFormat(), executor);
  return copy != nullptr && l0op::AddCopy(function, src, copy, executor) ? copy : nullptr;
}

}  // namespace

const aclTensor* CopyToNpu(const aclTensor* src, aclOpExecutor* executor) {
  return ToDevice("CopyToNpu", src, executor);
}

const aclTensor* CopyToNpuSync(const aclTensor* src, aclOpExecutor* executor) {
  return ToDevice("CopyToNpuSync", src, executor);
}

aclnnStatus CopyNpuToNpu(const aclTensor* src, const aclTensor* dst, aclOpExecutor* executor) {
  constexpr const char* kName = "CopyNpuToNpu";
  if (!IsPlaced(kName, src, false, executor) || !IsPlaced(kName, dst, false, executor)) {
    return ACLNN_ERR_PARAM_INVALID;
  }
  if (src->GetDataType() != dst->GetDataType()) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: got %s and %s, want one data type", kName,
            op::ToString(src->GetDataType()).GetString(),
            op::ToString(dst->GetDataType()).GetString());
    return ACLNN_ERR_PARAM_INVALID;
  }
  return l0op::AddCopy(kName, src, dst, executor) ? ACLNN_SUCCESS : ACLNN_ERR_PARAM_INVALID;
}

}  // namespace op
