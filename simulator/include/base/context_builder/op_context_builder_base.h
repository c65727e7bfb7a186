// SPDX-License-Identifier: Apache-2.0
// The builders of contexts have this base in common: unit tests make a context with them and call a tiling or inference function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/context_builder/context_holder.h"
#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "graph/ascend_string.h"
#include "graph/types.h"

namespace gert {

class ContextParts;  // the simulator's record of what a builder was told

template <typename T>
class OpContextBuilderBase {
 public:
  OpContextBuilderBase(const OpContextBuilderBase&) = delete;
  OpContextBuilderBase& operator=(const OpContextBuilderBase&) = delete;
  virtual ~OpContextBuilderBase();

  T& OpType(const ge::AscendString& type);
  T& OpName(const ge::AscendString& name);
  // One tensor for each input and output; not looked at after IOInstanceNum.
  T& IONum(size_t inputs, size_t outputs);
  // Tensors of each input and output.
  T& IOInstanceNum(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs);

  // The next attribute.
  T& AppendAttr(bool value);
  T& AppendAttr(int64_t value);
  T& AppendAttr(float value);
  T& AppendAttr(const ge::AscendString& value);
  T& AppendAttr(const std::vector<bool>& value);
  T& AppendAttr(const std::vector<int64_t>& value);
  T& AppendAttr(const std::vector<float>& value);
  T& AppendAttr(const std::vector<ge::AscendString>& value);
  T& AppendAttr(const std::vector<std::vector<int64_t>>& value);

 protected:
  OpContextBuilderBase();

  std::unique_ptr<ContextParts> parts_;
};

}  // namespace gert
