// SPDX-License-Identifier: Apache-2.0
// Context of a shape inference function.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferShapeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  const Shape* GetInputShape(size_t index) const { return ShapeOf(InputAt(index)); }
  const Tensor* GetInputTensor(size_t index) const { return InputAt(index); }
  const Tensor* GetOptionalInputTensor(size_t irIndex) const { return InputAt(irIndex, 0); }
  const Shape* GetOptionalInputShape(size_t irIndex) const { return ShapeOf(InputAt(irIndex, 0)); }
  const Tensor* GetRequiredInputTensor(size_t irIndex) const { return InputAt(irIndex, 0); }
  const Shape* GetRequiredInputShape(size_t irIndex) const { return ShapeOf(InputAt(irIndex, 0)); }
  const Shape* GetDynamicInputShape(size_t irIndex, size_t relativeIndex) const {
    return ShapeOf(InputAt(irIndex, relativeIndex));
  }
  const Tensor* GetDynamicInputTensor(size_t irIndex, size_t relativeIndex) const {
    return InputAt(irIndex, relativeIndex);
  }
  Shape* GetOutputShape(size_t index) {
    Tensor* output = OutputAt(index);
    return output == nullptr ? nullptr : &output->MutableOriginShape();
  }

 private:
  static const Shape* ShapeOf(const Tensor* tensor) {
    return tensor == nullptr ? nullptr : &tensor->GetOriginShape();
  }
};

}  // namespace gert
