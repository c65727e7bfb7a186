// SPDX-License-Identifier: Apache-2.0
// Attribute values of one operator call, in the order of the op definition.
#ifndef EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_
#define EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "exe_graph/runtime/continuous_vector.h"
#include "exe_graph/runtime/runtime_tensor.h"

namespace gert {

// Getters answer nullptr for an index without an attribute. Int is int64_t, Float is float, Bool is
// bool, Str is a C string, lists are continuous vectors.
class RuntimeAttrs {
 public:
  template <typename T>
  const T* GetAttrPointer(size_t index) const {
    return index < values_.size() ? reinterpret_cast<const T*>(values_[index].get()) : nullptr;
  }
  const int64_t* GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
  const float* GetFloat(size_t index) const { return GetAttrPointer<float>(index); }
  const bool* GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
  const char* GetStr(size_t index) const { return GetAttrPointer<char>(index); }
  const TypedContinuousVector<int64_t>* GetListInt(size_t index) const {
    return GetAttrPointer<TypedContinuousVector<int64_t>>(index);
  }
  const TypedContinuousVector<float>* GetListFloat(size_t index) const {
    return GetAttrPointer<TypedContinuousVector<float>>(index);
  }
  const ContinuousVectorVector* GetListListInt(size_t index) const {
    return GetAttrPointer<ContinuousVectorVector>(index);
  }
  const ContinuousVectorVector* GetListListFloat(size_t index) const {
    return GetAttrPointer<ContinuousVectorVector>(index);
  }
  size_t GetAttrNum() const { return values_.size(); }

  // Not part of CANN: how the simulator fills the attributes. nullptr stands for an attribute
  // without a value.
  void Append(std::unique_ptr<uint8_t[]> value) { values_.push_back(std::move(value)); }

 private:
  std::vector<std::unique_ptr<uint8_t[]>> values_;
};

}  // namespace gert

#endif  // EXE_GRAPH_RUNTIME_RUNTIME_ATTRS_H_
