// SPDX-License-Identifier: Apache-2.0
// Attribute values of one operator call, in the order of the op definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
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
    if (index >= values_.size()) {
      Missing(index);
      return nullptr;
    }
    if ((KindsOf<T>() & values_[index].kinds) == 0) Mistyped(index);
    return reinterpret_cast<const T*>(values_[index].bytes.get());
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
  // without a value. A definition says the type: a bit of Kind.
  enum Kind : unsigned {
    kInt = 1,
    kFloat = 2,
    kBool = 4,
    kString = 8,
    kListInt = 16,
    kListFloat = 32,
    kListBool = 64,
    kListListInt = 128,
    kDouble = 256,  // an attribute that the definition calls Float, given to OP_ATTR as a double
    kAny = ~0U,
  };
  void Append(std::unique_ptr<uint8_t[]> value, unsigned kind = kAny, std::string name = {}) {
    values_.push_back({std::move(value), kind, std::move(name)});
  }

 private:
  struct Value {
    std::unique_ptr<uint8_t[]> bytes;
    unsigned kinds;
    std::string name;
  };

  // The types of attributes that hold a T.
  template <typename T>
  static constexpr unsigned KindsOf() {
    if constexpr (std::is_same_v<T, bool>) return kBool | kInt;
    if constexpr (std::is_same_v<T, char>) return kString;
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      return sizeof(T) == 1 ? kBool | kInt : kInt + 0U;
    }
    if constexpr (std::is_floating_point_v<T>) {
      return std::is_same_v<T, float> ? kFloat + 0U : std::is_same_v<T, double> ? kDouble + 0U : 0U;
    }
    if constexpr (std::is_same_v<T, TypedContinuousVector<int64_t>>) return kListInt;
    if constexpr (std::is_same_v<T, TypedContinuousVector<float>>) return kListFloat;
    if constexpr (std::is_same_v<T, TypedContinuousVector<bool>>) return kListBool;
    if constexpr (std::is_same_v<T, ContinuousVectorVector>) return kListListInt;
    return kAny;
  }
  // Reports that the caller reads an attribute as another type than the definition gives it.
  void Mistyped(size_t index) const;
  // Keeps the place of a read past the last attribute: it is an error if the function then refuses the call.
  void Missing(size_t index) const;

  std::vector<Value> values_;
};

}  // namespace gert
