// SPDX-License-Identifier: Apache-2.0
// The kernel knows float32 only; here everything that can be cast to it.
#include "aclnn_scaled_offset.h"

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/common/op_error_check.h"
#include "aclnn_kernels/contiguous.h"
#include "affine.h"
#include "affine_code.h"
#include "math/doubled/op_api/doubled.h"
#include "opdev/make_op_executor.h"
#include "opdev/op_dfx.h"

static aclnnStatus CheckParams(const aclTensor* self, const aclTensor* added,
                               const aclScalar* factor, const aclTensor* out) {
  OP_CHECK_NULL(self, return ACLNN_ERR_PARAM_NULLPTR);
  OP_CHECK_NULL(added, return ACLNN_ERR_PARAM_NULLPTR);
  OP_CHECK_NULL(factor, return ACLNN_ERR_PARAM_NULLPTR);
  OP_CHECK_SHAPE_NOT_EQUAL(self, out, return ACLNN_ERR_PARAM_INVALID);
  OP_CHECK_SHAPE_NOT_EQUAL(self, added, return ACLNN_ERR_PARAM_INVALID);
  if (factor->ToFloat() >= 0) return ACLNN_SUCCESS;
  OP_LOGE(kNegativeFactor, "factor is %f, want one from 0 on", factor->ToFloat());
  return kNegativeFactor;
}

static const aclTensor* InFloat(const aclTensor* tensor, aclOpExecutor* executor) {
  const aclTensor* whole = l0op::Contiguous(tensor, executor);
  return whole == nullptr ? nullptr : l0op::Cast(whole, op::DataType::DT_FLOAT, executor);
}

aclnnStatus aclnnScaledOffsetGetWorkspaceSize(const aclTensor* added, const aclTensor* self,
                                              const aclScalar* factor, aclTensor* out,
                                              uint64_t* workspaceSize, aclOpExecutor** executor) {
  L2_DFX_PHASE_1(aclnnScaledOffset, DFX_IN(added, self, factor), DFX_OUT(out));
  auto uniqueExecutor = CREATE_EXECUTOR();
  const aclnnStatus status = CheckParams(self, added, factor, out);
  CHECK_RET(status == ACLNN_SUCCESS, status);
  auto base = InFloat(self, uniqueExecutor.get());
  CHECK_RET(base != nullptr, ACLNN_ERR_INNER_NULLPTR);
  auto shift = InFloat(added, uniqueExecutor.get());
  CHECK_RET(shift != nullptr, ACLNN_ERR_INNER_NULLPTR);
  shift = l0op::Doubled(shift, uniqueExecutor.get());
  CHECK_RET(shift != nullptr, ACLNN_ERR_INNER_NULLPTR);
  auto result = l0op::Affine(base, shift, factor->ToFloat(), uniqueExecutor.get());
  CHECK_RET(result != nullptr, ACLNN_ERR_INNER_NULLPTR);
  result = l0op::Cast(result, out->GetDataType(), uniqueExecutor.get());
  CHECK_RET(result != nullptr, ACLNN_ERR_INNER_NULLPTR);
  CHECK_RET(l0op::ViewCopy(result, out, uniqueExecutor.get()) != nullptr, ACLNN_ERR_INNER_NULLPTR);
  *workspaceSize = uniqueExecutor->GetWorkspaceSize();
  uniqueExecutor.ReleaseTo(executor);
  return ACLNN_SUCCESS;
}

aclnnStatus aclnnScaledOffset(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                              aclrtStream stream) {
  L2_DFX_PHASE_2(aclnnScaledOffset);
  return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);
}
