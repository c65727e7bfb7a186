// SPDX-License-Identifier: Apache-2.0
// Context of a dtype inference function.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferDataTypeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  ge::DataType GetInputDataType(size_t index) const { return TypeOf(InputAt(index)); }
  ge::DataType GetOptionalInputDataType(size_t irIndex) const {
    return TypeOf(InputAt(irIndex, 0));
  }
  ge::DataType GetRequiredInputDataType(size_t irIndex) const {
    return TypeOf(InputAt(irIndex, 0));
  }
  ge::DataType GetDynamicInputDataType(size_t irIndex, size_t relativeIndex) const {
    return TypeOf(InputAt(irIndex, relativeIndex));
  }
  ge::DataType GetOutputDataType(size_t index) const { return TypeOf(OutputAt(index)); }
  ge::graphStatus SetOutputDataType(size_t index, ge::DataType dataType) {
    Tensor* output = OutputAt(index);
    if (output == nullptr) return ge::GRAPH_FAILED;
    output->SetDataType(dataType);
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType TypeOf(const Tensor* tensor) {
    return tensor == nullptr ? ge::DT_UNDEFINED : tensor->GetDataType();
  }
};

}  // namespace gert
