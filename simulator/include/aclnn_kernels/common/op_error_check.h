// SPDX-License-Identifier: Apache-2.0
// Argument checks of aclnn functions. Each reports argument, value and what was wanted, then runs
// its last parameter.
#pragma once

#include "opdev/common_types.h"
#include "opdev/data_type_utils.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

template <typename T>
static inline bool IsNullptr(const T* handle, const char* name) {
  if (handle != nullptr) return false;
  OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "argument %s is NULL", name);
  return true;
}

static inline bool CheckDims(const aclTensor* tensor) {
  const op::Shape& shape = tensor->GetViewShape();
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    if (shape.GetDim(i) > INT32_MAX) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID, "dim %zu of shape %s exceeds %d", i,
              op::ToString(shape).GetString(), INT32_MAX);
      return false;
    }
  }
  return true;
}

static inline bool CheckReduceOutShape(const aclTensor* inferOut, const aclTensor* out) {
  const op::Shape& want = inferOut->GetViewShape();
  const op::Shape& got = out->GetViewShape();
  // One element counts as equal under any rank.
  if (want == got || (want.GetShapeSize() == 1 && got.GetShapeSize() == 1)) return true;
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "out has shape %s, expected %s", op::ToString(got).GetString(),
          op::ToString(want).GetString());
  return false;
}

#define OP_CHECK_NULL(param, retExpr) \
  if (IsNullptr(param, #param)) {     \
    retExpr;                          \
  }

#define OP_CHECK_DTYPE_NOT_SUPPORT(tensor, supportList, retExpr)                            \
  if (!op::CheckType((tensor)->GetDataType(), supportList)) {                               \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "argument %s has dtype %s, supported are %s", #tensor, \
            op::ToString((tensor)->GetDataType()).GetString(),                              \
            op::ToString(supportList).GetString());                                         \
    retExpr;                                                                                \
  }

#define OP_CHECK_DTYPE_NOT_MATCH(tensor, expectedDtype, retExpr)                       \
  if ((tensor)->GetDataType() != (expectedDtype)) {                                    \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "argument %s has dtype %s, expected %s", #tensor, \
            op::ToString((tensor)->GetDataType()).GetString(),                         \
            op::ToString(expectedDtype).GetString());                                  \
    retExpr;                                                                           \
  }

#define OP_CHECK_DTYPE_NOT_SAME(tensor1, tensor2, retExpr)                                         \
  if ((tensor1)->GetDataType() != (tensor2)->GetDataType()) {                                      \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "arguments %s and %s must have one dtype, but are %s and %s", \
            #tensor1, #tensor2, op::ToString((tensor1)->GetDataType()).GetString(),                \
            op::ToString((tensor2)->GetDataType()).GetString());                                   \
    retExpr;                                                                                       \
  }

#define OP_CHECK_RESULT_DTYPE_CAST_FAILED(dtype, desiredDtype, retExpr)                       \
  if (!op::CanCast(dtype, desiredDtype)) {                                                    \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "a result of dtype %s cannot be cast to out's dtype %s", \
            op::ToString(dtype).GetString(), op::ToString(desiredDtype).GetString());         \
    retExpr;                                                                                  \
  }

#define OP_CHECK_BROADCAST(tensor1, tensor2, retExpr)                                          \
  if (!op::CheckBroadcastShape((tensor1)->GetViewShape(), (tensor2)->GetViewShape())) {        \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "arguments %s and %s do not broadcast: shapes %s and %s", \
            #tensor1, #tensor2, op::ToString((tensor1)->GetViewShape()).GetString(),           \
            op::ToString((tensor2)->GetViewShape()).GetString());                              \
    retExpr;                                                                                   \
  }

#define OP_CHECK_BROADCAST_WITH_SHAPE(tensor, shape, retExpr)                              \
  if (!op::CheckBroadcastShape((tensor)->GetViewShape(), shape)) {                         \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "argument %s of shape %s does not broadcast with %s", \
            #tensor, op::ToString((tensor)->GetViewShape()).GetString(),                   \
            op::ToString(shape).GetString());                                              \
    retExpr;                                                                               \
  }

#define OP_CHECK_BROADCAST_AND_INFER_SHAPE(tensor1, tensor2, retShape, retExpr)                   \
  if (!op::BroadcastInferShape((tensor1)->GetViewShape(), (tensor2)->GetViewShape(), retShape)) { \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "arguments %s and %s do not broadcast: shapes %s and %s",    \
            #tensor1, #tensor2, op::ToString((tensor1)->GetViewShape()).GetString(),              \
            op::ToString((tensor2)->GetViewShape()).GetString());                                 \
    retExpr;                                                                                      \
  }

#define OP_CHECK_SHAPE_NOT_EQUAL(tensor1, tensor2, retExpr)                                        \
  if ((tensor1)->GetViewShape() != (tensor2)->GetViewShape()) {                                    \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "arguments %s and %s must have one shape, but are %s and %s", \
            #tensor1, #tensor2, op::ToString((tensor1)->GetViewShape()).GetString(),               \
            op::ToString((tensor2)->GetViewShape()).GetString());                                  \
    retExpr;                                                                                       \
  }

#define OP_CHECK_SHAPE_NOT_EQUAL_WITH_EXPECTED_SIZE(tensor, shape, retExpr)                       \
  if ((tensor)->GetViewShape() != (shape)) {                                                      \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "argument %s has shape %s, expected %s", #tensor,            \
            op::ToString((tensor)->GetViewShape()).GetString(), op::ToString(shape).GetString()); \
    retExpr;                                                                                      \
  }

#define OP_CHECK_RANK_(tensor, bad, what, bound, retExpr)                                          \
  if ((tensor)->GetViewShape().GetDimNum() bad static_cast<size_t>(bound)) {                       \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "argument %s has rank %zu (shape %s), expected " what " %zu", \
            #tensor, (tensor)->GetViewShape().GetDimNum(),                                         \
            op::ToString((tensor)->GetViewShape()).GetString(), static_cast<size_t>(bound));       \
    retExpr;                                                                                       \
  }
#define OP_CHECK_WRONG_DIMENSION(tensor, expectedDimNum, retExpr) \
  OP_CHECK_RANK_(tensor, !=, "exactly", expectedDimNum, retExpr)
#define OP_CHECK_MAX_DIM(tensor, maxDim, retExpr) \
  OP_CHECK_RANK_(tensor, >, "at most", maxDim, retExpr)
#define OP_CHECK_MIN_DIM(tensor, minDim, retExpr) \
  OP_CHECK_RANK_(tensor, <, "at least", minDim, retExpr)

#define OP_CHECK_COMM_INPUT(workspaceSize, executor)                  \
  if ((workspaceSize) == nullptr || (executor) == nullptr) {          \
    OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "argument %s is NULL",           \
            (workspaceSize) == nullptr ? #workspaceSize : #executor); \
    return ACLNN_ERR_PARAM_NULLPTR;                                   \
  }

#define OP_CHECK_ADD_TO_LAUNCHER_LIST_AICORE(cond, retExpr, ...)    \
  if (cond) {                                                       \
    OP_LOGE(ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID, __VA_ARGS__); \
    retExpr;                                                        \
  }

#define OP_CHECK_INFERSHAPE(cond, retExpr, ...)             \
  if (cond) {                                               \
    OP_LOGE(ACLNN_ERR_INNER_INFERSHAPE_ERROR, __VA_ARGS__); \
    retExpr;                                                \
  }

#define OP_CHECK_TENSORLIST_SIZE_EQUAL(list1, list2, retExpr)                                    \
  if ((list1)->Size() != (list2)->Size()) {                                                      \
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "lists %s and %s must have one size, but have %zu and %zu", \
            #list1, #list2, static_cast<size_t>((list1)->Size()),                                \
            static_cast<size_t>((list2)->Size()));                                               \
    retExpr;                                                                                     \
  }

// Returns whether an image has as many samples and channels after an operator as before.
inline bool CheckNCDimValid(const aclTensor* self, const aclTensor* out) {
  const op::Format format = self->GetStorageFormat();
  const bool last = format == op::Format::FORMAT_NHWC;
  if (!last && format != op::Format::FORMAT_NCHW) {
    OP_LOGE(ACLNN_ERR_PARAM_INVALID, "self has format %s, expected NCHW or NHWC",
            op::ToString(format).GetString());
    return false;
  }
  const op::Shape& before = self->GetViewShape();
  const op::Shape& after = out->GetViewShape();
  const size_t channel = last ? 3 : 1;
  if (before.GetDim(0) == after.GetDim(0) && before.GetDim(channel) == after.GetDim(channel)) {
    return true;
  }
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "out has shape %s, expected N and C of self, whose shape is %s",
          op::ToString(after).GetString(), op::ToString(before).GetString());
  return false;
}
