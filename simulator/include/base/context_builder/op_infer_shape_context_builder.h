// SPDX-License-Identifier: Apache-2.0
// Makes the context of a shape inference function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context_builder/op_context_builder_base.h"
#include "exe_graph/runtime/infer_shape_context.h"

namespace gert {

class OpInferShapeContextBuilder : public OpContextBuilderBase<OpInferShapeContextBuilder> {
 public:
  OpInferShapeContextBuilder();
  ~OpInferShapeContextBuilder() override;

  OpInferShapeContextBuilder& OutputTensorDesc(size_t index, ge::DataType dataType,
                                               ge::Format originFormat, ge::Format storageFormat,
                                               const ExpandDimsType& expandDims = {});
  OpInferShapeContextBuilder& InputTensors(const std::vector<Tensor*>& tensors);

  ContextHolder<InferShapeContext> Build();
};

}  // namespace gert
