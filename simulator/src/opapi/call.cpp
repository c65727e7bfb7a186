// SPDX-License-Identifier: Apache-2.0
// The first stages of libopapi's functions share these functions.
#include "opapi/call.h"

#include "aclnn_kernels/cast.h"
#include "opbase/cast.h"
#include "opbase/l0_common.h"
#include "opdev/data_type_utils.h"
#include "opdev/format_utils.h"
#include "opdev/make_op_executor.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"
#include "opdev/tensor_view_utils.h"

namespace opapi {
namespace {

constexpr size_t kMaxDims = 8;

aclnnStatus CheckArgument(const Argument& argument) {
  if (argument.pointer == nullptr) {
    OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "%s: got a null pointer, want a live handle", argument.name);
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  const aclTensor* tensor = argument.tensor;
  if (tensor == nullptr) return ACLNN_SUCCESS;
  if (!argument.anyFormat && op::IsPrivateFormat(tensor->GetStorageFormat())) {
    return Refuse(argument.name,
                  std::string("format ") + op::ToString(tensor->GetStorageFormat()).GetString(),
                  "ND or another format in which dims and strides say where elements are");
  }
  if (tensor->GetViewShape().GetDimNum() > kMaxDims) {
    return Refuse(argument.name, std::to_string(tensor->GetViewShape().GetDimNum()) + " dims",
                  "at most 8; merge dims that lie next to each other");
  }
  return ACLNN_SUCCESS;
}

}  // namespace

aclnnStatus Plan(std::initializer_list<Argument> arguments, uint64_t* workspaceSize,
                 aclOpExecutor** executor, const Body& body) {
  for (const Argument& argument : arguments) {
    if (argument.pointer != nullptr) continue;
    return CheckArgument(argument);
  }
  for (const Argument& argument : arguments) {
    const aclnnStatus status = CheckArgument(argument);
    if (status != ACLNN_SUCCESS) return status;
  }
  auto plan = CREATE_EXECUTOR();
  if (plan.get() == nullptr) return ACLNN_ERR_INNER_CREATE_EXECUTOR;
  const aclnnStatus status = body(plan.get());
  if (status != ACLNN_SUCCESS) return status;
  *workspaceSize = plan->GetWorkspaceSize();
  plan.ReleaseTo(executor);
  return ACLNN_SUCCESS;
}

aclnnStatus Refuse(const char* name, const std::string& got, const std::string& want) {
  OP_LOGE(ACLNN_ERR_PARAM_INVALID, "%s: got %s, want %s", name, got.c_str(), want.c_str());
  return ACLNN_ERR_PARAM_INVALID;
}

aclnnStatus Refuse(const aclOpExecutor* executor, const aclTensor* tensor, const std::string& got,
                   const std::string& want) {
  return Refuse(executor->State().NameOf(tensor).c_str(), got, want);
}

aclnnStatus CheckElements(const aclOpExecutor* executor,
                          std::initializer_list<const aclTensor*> tensors) {
  for (const aclTensor* tensor : tensors) {
    if (op::internal::CanConvert(tensor->GetDataType())) continue;
    return Refuse(
        executor, tensor, TypeText(tensor->GetDataType()),
        "bool, an integer of 8 to 64 bits, float16, bfloat16, float, double, complex64 or "
        "complex128");
  }
  return ACLNN_SUCCESS;
}

aclnnStatus CheckElements(const char* name, const aclScalar* scalar) {
  if (op::internal::CanConvert(scalar->GetDataType())) return ACLNN_SUCCESS;
  return Refuse(name, TypeText(scalar->GetDataType()), "a number of a type that tensors have");
}

std::string TypeText(op::DataType type) {
  return std::string("dtype ") + op::ToString(type).GetString();
}

std::string ShapeText(const op::Shape& shape) {
  return std::string("shape ") + op::ToString(shape).GetString();
}

const aclTensor* Broadcast(const aclTensor* x, const op::Shape& shape, aclOpExecutor* executor) {
  if (!op::internal::CheckView(x, executor->State().NameOf(x).c_str())) return nullptr;
  const op::Shape& from = x->GetViewShape();
  const size_t added = shape.GetDimNum() - from.GetDimNum();
  op::Strides strides;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    const bool repeated = i < added || (from[i - added] == 1 && shape[i] != 1);
    strides.push_back(repeated ? 0 : x->GetViewStrides()[i - added]);
  }
  return executor->CreateView(x, shape, x->GetStorageShape(), strides, x->GetViewOffset());
}

const aclTensor* Number(int64_t value, op::DataType type, aclOpExecutor* executor) {
  const aclTensor* one = executor->ConvertToTensor(&value, 1, type);
  return one == nullptr ? nullptr : executor->CreateView(one, op::Shape(), 0);
}

const aclTensor* Number(const aclScalar* value, op::DataType type, aclOpExecutor* executor) {
  const aclTensor* one = executor->ConvertToTensor(value, type);
  return one == nullptr ? nullptr : executor->CreateView(one, op::Shape(), 0);
}

aclnnStatus CopyInto(const aclTensor* x, const aclTensor* out, aclOpExecutor* executor) {
  if (out->IsEmpty()) return ACLNN_SUCCESS;
  if (!op::internal::CheckView(out, executor->State().NameOf(out).c_str())) {
    return ACLNN_ERR_INNER_NULLPTR;
  }
  const aclTensor* cast = l0op::Cast(x, out->GetDataType(), executor);
  const aclTensor* view =
      cast == nullptr ? nullptr : Broadcast(cast, out->GetViewShape(), executor);
  if (view == nullptr || !l0op::AddCopy("ViewCopy", view, out, executor, true)) {
    return ACLNN_ERR_INNER_NULLPTR;
  }
  return ACLNN_SUCCESS;
}

}  // namespace opapi
