// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch: OP_INPUT, OP_OUTPUT, OP_ATTR and relatives pack them for the launcher
// list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "opdev/common_types.h"

namespace op {

struct OpArg {
  enum class Kind {
    kTensor,  // nullptr for an optional tensor that is absent
    kTensorList,
    kInt,
    kFloat,
    kDouble,
    kBool,
    kString,
    kDataType,
    kIntArray,
    kFloatArray,
    kBoolArray,
    kScalar,
    kImplMode,
  };
  Kind kind = Kind::kTensor;
  const void* pointer = nullptr;
  int64_t intValue = 0;
  double floatValue = 0;
  ge::AscendString text;

  OpArg(const aclTensor* value) : kind(Kind::kTensor), pointer(value) {}
  OpArg(std::nullptr_t) : kind(Kind::kTensor) {}
  OpArg(const aclTensorList* value) : kind(Kind::kTensorList), pointer(value) {}
  OpArg(const aclIntArray* value) : kind(Kind::kIntArray), pointer(value) {}
  OpArg(const aclFloatArray* value) : kind(Kind::kFloatArray), pointer(value) {}
  OpArg(const aclBoolArray* value) : kind(Kind::kBoolArray), pointer(value) {}
  OpArg(const aclScalar* value) : kind(Kind::kScalar), pointer(value) {}
  OpArg(const char* value) : kind(Kind::kString), text(value) {}
  OpArg(const std::string& value) : kind(Kind::kString), text(value.c_str(), value.size()) {}
  OpArg(DataType value) : kind(Kind::kDataType), intValue(value) {}
  OpArg(OpImplMode value) : kind(Kind::kImplMode), intValue(static_cast<int64_t>(value)) {}
  OpArg(bool value) : kind(Kind::kBool), intValue(value) {}
  template <typename T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
  OpArg(T value)
      : kind(std::is_same<T, float>::value ? Kind::kFloat : Kind::kDouble),
        floatValue(static_cast<double>(value)) {}
  template <typename T,
            std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int> = 0>
  OpArg(T value) : kind(Kind::kInt), intValue(static_cast<int64_t>(value)) {}
};

enum class OpArgRole { kInput, kOutput, kAttr, kWorkspace, kOutShape, kOption, kMode, kEmpty };

struct OpArgGroup {
  OpArgRole role = OpArgRole::kEmpty;
  std::vector<OpArg> args;

  OpArgGroup() = default;
  OpArgGroup(OpArgRole groupRole, std::vector<OpArg> groupArgs)
      : role(groupRole), args(std::move(groupArgs)) {}
  // Nothing here depends on where it runs or on the names of attributes for the AI CPU.
  OpArgGroup(CoreType) {}
  OpArgGroup(const FVector<std::string>&) {}
};

namespace internal {

template <typename... Ts>
OpArgGroup PackArgs(OpArgRole role, const Ts&... values) {
  return OpArgGroup{role, {OpArg(values)...}};
}

}  // namespace internal
}  // namespace op

#define OP_INPUT(...) op::internal::PackArgs(op::OpArgRole::kInput, ##__VA_ARGS__)
#define OP_OUTPUT(...) op::internal::PackArgs(op::OpArgRole::kOutput, ##__VA_ARGS__)
#define OP_ATTR(...) op::internal::PackArgs(op::OpArgRole::kAttr, ##__VA_ARGS__)
#define OP_WORKSPACE(...) op::internal::PackArgs(op::OpArgRole::kWorkspace, ##__VA_ARGS__)
#define OP_OUTSHAPE(...)         \
  op::OpArgGroup {               \
    op::OpArgRole::kOutShape, {} \
  }
#define OP_OPTION(...) op::internal::PackArgs(op::OpArgRole::kOption, ##__VA_ARGS__)
#define OP_MODE(...) op::internal::PackArgs(op::OpArgRole::kMode, ##__VA_ARGS__)
#define OP_EMPTY_ARG \
  op::OpArgGroup {}
