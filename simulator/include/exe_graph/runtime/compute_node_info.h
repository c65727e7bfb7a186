// SPDX-License-Identifier: Apache-2.0
// An operator call has these besides shapes: type, dtypes, formats, attributes, instances
// per parameter.
#pragma once

#include <cstddef>
#include <vector>

#include "exe_graph/runtime/runtime_attrs.h"
#include "exe_graph/runtime/storage_format.h"
#include "graph/ascend_string.h"
#include "graph/types.h"

namespace gert {

// The tensors of one parameter: 1 for a required one, 0 or 1 for an optional one, any number for a
// dynamic one.
class AnchorInstanceInfo {
 public:
  AnchorInstanceInfo() = default;
  AnchorInstanceInfo(uint32_t start, uint32_t count) : start_(start), count_(count) {}
  size_t GetInstanceNum() const { return count_; }
  size_t GetInstanceStart() const { return start_; }

 private:
  uint32_t start_ = 0;
  uint32_t count_ = 0;
};

class CompileTimeTensorDesc {
 public:
  ge::DataType GetDataType() const { return data_type_; }
  const StorageFormat& GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  ExpandDimsType GetExpandDimsType() const { return format_.GetExpandDimsType(); }
  void SetDataType(ge::DataType dataType) { data_type_ = dataType; }
  void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }
  void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
  void SetExpandDimsType(const ExpandDimsType& type) { format_.SetExpandDimsType(type); }

 private:
  ge::DataType data_type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
};

class ComputeNodeInfo {
 public:
  const ge::char_t* GetNodeType() const { return type.GetString(); }
  const ge::char_t* GetNodeName() const { return name.GetString(); }
  size_t GetIrInputsNum() const { return inputInstances.size(); }
  size_t GetIrOutputsNum() const { return outputInstances.size(); }
  size_t GetInputsNum() const { return inputs.size(); }
  size_t GetOutputsNum() const { return outputs.size(); }
  const AnchorInstanceInfo* GetInputInstanceInfo(size_t i) const {
    return Input(inputInstances, i);
  }
  const AnchorInstanceInfo* GetOutputInstanceInfo(size_t i) const {
    return Output(outputInstances, i);
  }
  const CompileTimeTensorDesc* GetInputTdInfo(size_t i) const { return Input(inputs, i); }
  const CompileTimeTensorDesc* GetOutputTdInfo(size_t i) const { return Output(outputs, i); }
  const RuntimeAttrs* GetAttrs() const { return &attrs; }

  // Not part of CANN: filled by the simulator.
  ge::AscendString type;
  ge::AscendString name;
  std::vector<AnchorInstanceInfo> inputInstances;
  std::vector<AnchorInstanceInfo> outputInstances;
  std::vector<CompileTimeTensorDesc> inputs;
  std::vector<CompileTimeTensorDesc> outputs;
  RuntimeAttrs attrs;

  // Returns what `items` has of an input or output; where the definition has none of that index, a note for
  // the report on a function that then fails.
  template <typename Items>
  auto Input(Items& items, size_t index) const -> decltype(items.data()) {
    return At(items, index, "input", inputInstances.size());
  }
  template <typename Items>
  auto Output(Items& items, size_t index) const -> decltype(items.data()) {
    return At(items, index, "output", outputInstances.size());
  }

 private:
  template <typename Items>
  static auto At(Items& items, size_t index, const char* what, size_t defined)
      -> decltype(items.data()) {
    const bool there = index < items.size();
    if (!there && index >= defined) Missing(what, index, defined);
    return there ? &items[index] : nullptr;
  }
  static void Missing(const char* what, size_t index, size_t count);
};

}  // namespace gert
