// SPDX-License-Identifier: Apache-2.0
// Values of host tensors that tiling and inference depend on.
#pragma once

#include <cstdint>

#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "op_common/log/log.h"

namespace Ops {
namespace Base {

// Calls use(pointer, count) with the values of a host tensor of integers; false without one.
template <typename Use>
bool UseIntegers(const gert::Tensor* tensor, const Use& use) {
  if (tensor == nullptr) return false;
  const int64_t count = tensor->GetShapeSize();
  const auto call = [&](const auto* values) {
    if (values == nullptr) return false;
    use(values, count);
    return true;
  };
  switch (tensor->GetDataType()) {
    case ge::DT_INT32:
      return call(tensor->GetData<int32_t>());
    case ge::DT_UINT32:
      return call(tensor->GetData<uint32_t>());
    case ge::DT_INT64:
      return call(tensor->GetData<int64_t>());
    case ge::DT_UINT64:
      return call(tensor->GetData<uint64_t>());
    default:
      return false;
  }
}

// The first value of an integer input; false when it has none on the host.
template <typename ContextType, typename T>
bool GetConstInt(const ContextType* context, int64_t inputIdx, T& value) {
  if (context == nullptr) return false;
  bool found = false;
  UseIntegers(context->GetInputTensor(static_cast<size_t>(inputIdx)),
              [&](const auto* values, int64_t count) {
                if (count <= 0) return;
                value = static_cast<T>(values[0]);
                found = true;
              });
  if (!found) OP_LOGE(context, "input %ld has no integer value on the host", inputIdx);
  return found;
}

// A host tensor's values, which are of type T, as dims.
template <typename T>
bool GetValueToShape(const gert::Tensor* tensor, gert::Shape& shape) {
  const T* values = tensor == nullptr ? nullptr : tensor->GetData<T>();
  if (values == nullptr) return false;
  shape.SetDimNum(0);
  for (int64_t i = 0; i < tensor->GetShapeSize(); ++i) {
    shape.AppendDim(static_cast<int64_t>(values[i]));
  }
  return true;
}
template <typename T1, typename T2>
bool GetValueToInteger(const gert::Tensor* tensor, T2& value) {
  const T1* values = tensor == nullptr ? nullptr : tensor->GetData<T1>();
  if (values == nullptr || tensor->GetShapeSize() <= 0) return false;
  value = static_cast<T2>(values[0]);
  return true;
}

// The values of an integer input as dims.
template <typename ContextType>
bool GetConstIntToShape(const ContextType* context, int64_t inputIdx, gert::Shape& shape) {
  if (context == nullptr) return false;
  const bool found = UseIntegers(context->GetInputTensor(static_cast<size_t>(inputIdx)),
                                 [&](const auto* values, int64_t count) {
                                   shape.SetDimNum(0);
                                   for (int64_t i = 0; i < count; ++i) {
                                     shape.AppendDim(static_cast<int64_t>(values[i]));
                                   }
                                 });
  if (!found) OP_LOGE(context, "input %ld has no integer values on the host", inputIdx);
  return found;
}

}  // namespace Base
}  // namespace Ops
