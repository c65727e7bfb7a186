// SPDX-License-Identifier: Apache-2.0
// Makes the context of a dtype inference function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context_builder/op_context_builder_base.h"
#include "exe_graph/runtime/infer_datatype_context.h"

namespace gert {

class OpInferDataTypeContextBuilder : public OpContextBuilderBase<OpInferDataTypeContextBuilder> {
 public:
  OpInferDataTypeContextBuilder();
  ~OpInferDataTypeContextBuilder() override;

  OpInferDataTypeContextBuilder& InputTensorDesc(size_t index, ge::DataType dataType,
                                                 ge::Format originFormat, ge::Format storageFormat,
                                                 const ExpandDimsType& expandDims = {});
  OpInferDataTypeContextBuilder& OutputTensorDesc(size_t index, ge::Format originFormat,
                                                  ge::Format storageFormat,
                                                  const ExpandDimsType& expandDims = {});

  ContextHolder<InferDataTypeContext> Build();
};

}  // namespace gert
