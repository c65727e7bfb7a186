// SPDX-License-Identifier: Apache-2.0
// Makes the context of a shape range inference function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context_builder/op_context_builder_base.h"
#include "exe_graph/runtime/infer_shape_range_context.h"

namespace gert {

class OpInferShapeRangeContextBuilder
    : public OpContextBuilderBase<OpInferShapeRangeContextBuilder> {
 public:
  OpInferShapeRangeContextBuilder();
  ~OpInferShapeRangeContextBuilder() override;

  OpInferShapeRangeContextBuilder& OutputTensorDesc(size_t index, ge::DataType dataType,
                                                    ge::Format originFormat,
                                                    ge::Format storageFormat,
                                                    const ExpandDimsType& expandDims = {});
  OpInferShapeRangeContextBuilder& InputTensorsRange(const std::vector<Range<Tensor>*>& ranges);

  ContextHolder<InferShapeRangeContext> Build();
};

}  // namespace gert
