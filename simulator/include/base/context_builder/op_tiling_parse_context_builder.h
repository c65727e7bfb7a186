// SPDX-License-Identifier: Apache-2.0
// Makes the context of a tiling-parse function. What is given by pointer has to outlive the context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context_builder/op_context_builder_base.h"
#include "exe_graph/runtime/tiling_parse_context.h"

namespace gert {

class OpTilingParseContextBuilder : public OpContextBuilderBase<OpTilingParseContextBuilder> {
 public:
  OpTilingParseContextBuilder();
  ~OpTilingParseContextBuilder() override;

  OpTilingParseContextBuilder& InputTensorDesc(size_t index, ge::DataType dataType,
                                               ge::Format originFormat, ge::Format storageFormat,
                                               const ExpandDimsType& expandDims = {});
  OpTilingParseContextBuilder& OutputTensorDesc(size_t index, ge::DataType dataType,
                                                ge::Format originFormat, ge::Format storageFormat,
                                                const ExpandDimsType& expandDims = {});
  OpTilingParseContextBuilder& CompiledJson(const ge::char_t* json);
  // The function fills this.
  OpTilingParseContextBuilder& CompiledInfo(const void* compileInfo);
  OpTilingParseContextBuilder& PlatformInfo(const void* platformInfo);

  ContextHolder<TilingParseContext> Build();
};

}  // namespace gert
