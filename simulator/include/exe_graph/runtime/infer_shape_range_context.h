// SPDX-License-Identifier: Apache-2.0
// Shape ranges belong to graph mode, which the simulator does not have: it calls none of these functions, but unit tests of
// op_host do, with ranges of their own.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/range.h"

namespace gert {

using TensorRange = Range<Tensor>;

class InferShapeRangeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  const Range<Shape>* GetInputShapeRange(size_t index) const {
    return At(state_->inputShapeRanges, index);
  }
  const TensorRange* GetInputTensorRange(size_t index) const {
    return At(state_->inputRanges, index);
  }
  const TensorRange* GetOptionalInputTensorRange(size_t irIndex) const {
    return At(state_->inputRanges, IndexOf(irIndex, 0));
  }
  const Range<Shape>* GetOptionalInputShapeRange(size_t irIndex) const {
    return At(state_->inputShapeRanges, IndexOf(irIndex, 0));
  }
  const Range<Shape>* GetDynamicInputShapeRange(size_t irIndex, size_t relativeIndex) const {
    return At(state_->inputShapeRanges, IndexOf(irIndex, relativeIndex));
  }
  Range<Shape>* GetOutputShapeRange(size_t index) { return At(state_->outputShapeRanges, index); }

 private:
  // Returns no range where the input has no such instance.
  size_t IndexOf(size_t irIndex, size_t relativeIndex) const {
    const AnchorInstanceInfo* info = GetIrInputInstanceInfo(irIndex);
    const bool there = info != nullptr && relativeIndex < info->GetInstanceNum();
    return there ? info->GetInstanceStart() + relativeIndex : state_->inputRanges.size();
  }
  template <typename T>
  static T* At(std::vector<T>& ranges, size_t index) {
    return index < ranges.size() ? &ranges[index] : nullptr;
  }
};

}  // namespace gert
