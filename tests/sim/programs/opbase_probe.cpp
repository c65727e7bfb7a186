// SPDX-License-Identifier: Apache-2.0
// aclnn functions around single l0 built-ins, and around the operator ProbeShift of
// opbase_probe_op.cpp.
#include "aclnn_kernels/broadcast_to.h"
#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/common/op_error_check.h"
#include "aclnn_kernels/contiguous.h"
#include "aclnn_kernels/reshape.h"
#include "aclnn_kernels/slice.h"
#include "aclnn_kernels/transpose.h"
#include "level0/fill.h"
#include "level0/reduce_sum_op.h"
#include "level0/zero_op.h"
#include "opdev/framework_op.h"
#include "opdev/make_op_executor.h"
#include "opdev/op_dfx.h"
#include "opdev/op_executor.h"
#include "opdev/small_vector.h"

namespace l0op {
OP_TYPE_REGISTER(ProbeShift);

// y = x + bias
const aclTensor* ProbeShift(const aclTensor* x, double bias, aclOpExecutor* executor) {
  L0_DFX(ProbeShift, x, bias);
  aclTensor* y =
      executor->AllocTensor(x->GetDataType(), x->GetStorageFormat(), x->GetStorageFormat());
  auto inferred =
      INFER_SHAPE(ProbeShift, OP_INPUT(x), OP_OUTPUT(y), OP_ATTR(static_cast<float>(bias)));
  CHECK_RET(inferred == ACLNN_SUCCESS, nullptr);
  auto added = ADD_TO_LAUNCHER_LIST_AICORE(ProbeShift, OP_INPUT(x), OP_OUTPUT(y),
                                           OP_ATTR(static_cast<float>(bias)));
  return added == ACLNN_SUCCESS ? y : nullptr;
}
}  // namespace l0op

// Both stages of an aclnn function whose result is one l0 expression on `self` and `executor`.
#define PROBE(Api, PARAMS, NAMES, RESULT)                                                      \
  extern "C" aclnnStatus Api##GetWorkspaceSize(const aclTensor* self, PARAMS aclTensor* out,   \
                                               uint64_t* workspaceSize,                        \
                                               aclOpExecutor** executor) {                     \
    L2_DFX_PHASE_1(Api, DFX_IN(self NAMES), DFX_OUT(out));                                     \
    OP_CHECK_NULL(self, return ACLNN_ERR_PARAM_NULLPTR);                                       \
    OP_CHECK_NULL(out, return ACLNN_ERR_PARAM_NULLPTR);                                        \
    auto unique = CREATE_EXECUTOR();                                                           \
    CHECK_RET(unique.get() != nullptr, ACLNN_ERR_INNER_CREATE_EXECUTOR);                       \
    const aclTensor* result = RESULT;                                                          \
    CHECK_RET(result != nullptr, ACLNN_ERR_INNER_NULLPTR);                                     \
    result = l0op::ViewCopy(result, out, unique.get());                                        \
    CHECK_RET(result != nullptr, ACLNN_ERR_INNER_NULLPTR);                                     \
    *workspaceSize = unique->GetWorkspaceSize();                                               \
    unique.ReleaseTo(executor);                                                                \
    return ACLNN_SUCCESS;                                                                      \
  }                                                                                            \
  extern "C" aclnnStatus Api(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, \
                             aclrtStream stream) {                                             \
    L2_DFX_PHASE_2(Api);                                                                       \
    return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);                    \
  }
#define NOTHING
#define COMMA ,

PROBE(aclnnProbeCopy, NOTHING, NOTHING, l0op::Contiguous(self, unique.get()))
PROBE(aclnnProbeDirect, NOTHING, NOTHING, self)
PROBE(aclnnProbeCast, NOTHING, NOTHING, l0op::Cast(self, out->GetDataType(), unique.get()))
PROBE(aclnnProbeReshape, const aclIntArray* shape COMMA, COMMA shape,
      l0op::Reshape(self, shape, unique.get()))
PROBE(aclnnProbeTranspose, const aclIntArray* perm COMMA, COMMA perm,
      l0op::Transpose(self, perm, unique.get()))
PROBE(aclnnProbeBroadcast, const aclIntArray* shape COMMA, COMMA shape,
      l0op::BroadcastTo(self, shape, unique.get()))
PROBE(aclnnProbeSum, const aclIntArray* axes COMMA, COMMA axes,
      l0op::ReduceSumOp(self, axes, false, unique.get()))
PROBE(aclnnProbeZeros, NOTHING, NOTHING, l0op::ZerosLike(self, unique.get()))
PROBE(aclnnProbeShift, double bias COMMA, COMMA bias,
      l0op::ProbeShift(l0op::Contiguous(self, unique.get()), bias, unique.get()))

// Slices off the first and the last element of dim 0, to have two arrays in one call.
static const aclTensor* Inner(const aclTensor* self, aclOpExecutor* executor) {
  op::FVector<int64_t> offsets;
  op::FVector<int64_t> sizes;
  for (size_t i = 0; i < self->GetViewShape().GetDimNum(); ++i) {
    offsets.push_back(i == 0 ? 1 : 0);
    sizes.push_back(i == 0 ? self->GetViewShape()[0] - 2 : -1);
  }
  return l0op::Slice(self, executor->AllocIntArray(offsets.data(), offsets.size()),
                     executor->AllocIntArray(sizes.data(), sizes.size()), executor);
}
PROBE(aclnnProbeSlice, NOTHING, NOTHING, Inner(self, unique.get()))

static const aclTensor* FillValue(const aclTensor* self, const aclTensor* out,
                                  aclOpExecutor* executor) {
  const float value = 2.5F;
  const aclTensor* one = executor->ConvertToTensor(&value, 1, out->GetDataType());
  op::FVector<int64_t> dims = op::ToShapeVector(self->GetViewShape()).size() == 0
                                  ? op::FVector<int64_t>{}
                                  : op::FVector<int64_t>{self->GetViewShape()[0]};
  return l0op::Fill(nullptr, one, executor->AllocIntArray(dims.data(), dims.size()), executor);
}
PROBE(aclnnProbeFill, NOTHING, NOTHING, FillValue(self, out, unique.get()))

// A table that the host computes, on the device. 2 and 3 take a tensor from the wrong side.
static const aclTensor* Uploaded(const aclTensor* self, int64_t on, aclOpExecutor* executor) {
  const op::internal::SmallVector<int32_t, 4> table{7, -1, 1 << 30};
  const aclTensor* host =
      executor->ConvertToTensor(table.data(), table.size(), op::DataType::DT_INT32);
  const aclTensor* copy =
      on == 0 ? op::CopyToNpuSync(host, executor) : op::CopyToNpu(on == 2 ? self : host, executor);
  CHECK_RET(copy != nullptr, nullptr);
  const aclTensor* second = executor->AllocTensor(copy->GetViewShape(), copy->GetDataType());
  auto moved = op::CopyNpuToNpu(on == 3 ? host : copy, second, executor);
  return moved == ACLNN_SUCCESS ? second : nullptr;
}
PROBE(aclnnProbeUpload, int64_t on COMMA, COMMA on, Uploaded(self, on, unique.get()))

// Shift, cast to float16 and back: two temporaries in a row.
static const aclTensor* Chain(const aclTensor* self, double bias, aclOpExecutor* executor) {
  const aclTensor* shifted = l0op::ProbeShift(l0op::Contiguous(self, executor), bias, executor);
  CHECK_RET(shifted != nullptr, nullptr);
  const aclTensor* half = l0op::Cast(shifted, op::DataType::DT_FLOAT16, executor);
  return l0op::Cast(half, op::DataType::DT_FLOAT, executor);
}
PROBE(aclnnProbeChain, double bias COMMA, COMMA bias, Chain(self, bias, unique.get()))
