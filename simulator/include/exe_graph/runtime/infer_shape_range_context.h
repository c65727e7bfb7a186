// SPDX-License-Identifier: Apache-2.0
// Shape ranges belong to graph mode, which the simulator does not have: nothing calls these functions, they exist so that
// op_host code compiles.
#ifndef EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_
#define EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/range.h"

namespace gert {

using TensorRange = Range<Tensor>;

class InferShapeRangeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  const Range<Shape>* GetInputShapeRange(size_t) const { return nullptr; }
  const TensorRange* GetInputTensorRange(size_t) const { return nullptr; }
  const TensorRange* GetOptionalInputTensorRange(size_t) const { return nullptr; }
  const Range<Shape>* GetOptionalInputShapeRange(size_t) const { return nullptr; }
  const Range<Shape>* GetDynamicInputShapeRange(size_t, size_t) const { return nullptr; }
  Range<Shape>* GetOutputShapeRange(size_t) { return nullptr; }
};

}  // namespace gert

#endif  // EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_
