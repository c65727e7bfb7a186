// SPDX-License-Identifier: Apache-2.0
// Makes the context of a tiling function. What is given by pointer has to outlive the context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context_builder/op_context_builder_base.h"
#include "exe_graph/runtime/tiling_context.h"

namespace gert {

class OpTilingContextBuilder : public OpContextBuilderBase<OpTilingContextBuilder> {
 public:
  OpTilingContextBuilder();
  ~OpTilingContextBuilder() override;

  OpTilingContextBuilder& CompileInfo(const void* compileInfo);
  // A fe::PlatFormInfos.
  OpTilingContextBuilder& PlatformInfo(const void* platformInfo);
  OpTilingContextBuilder& Deterministic(int32_t deterministic);  // 0 or 1
  OpTilingContextBuilder& DeterministicLevel(int32_t level);     // 0 to 3
  // The last call of these two holds. A deleter is called when the context goes.
  OpTilingContextBuilder& TilingData(const gert::TilingData* data,
                                     void (*deleter)(void*) = nullptr);
  OpTilingContextBuilder& TilingDataSize(size_t capacity);
  // A continuous vector of size_t.
  OpTilingContextBuilder& Workspace(const ContinuousVector* sizes);
  OpTilingContextBuilder& InputTensors(const std::vector<Tensor*>& tensors);
  OpTilingContextBuilder& OutputTensors(const std::vector<Tensor*>& tensors);

  ContextHolder<TilingContext> Build();
};

}  // namespace gert
