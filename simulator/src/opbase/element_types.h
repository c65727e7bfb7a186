// SPDX-License-Identifier: Apache-2.0
// The C++ types of data types, for functions on elements.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "graph/types.h"
#include "opdev/bfloat16.h"
#include "opdev/fp16_t.h"

namespace op::internal {

struct Bool {
  uint8_t value;
};

template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <typename T>
inline constexpr bool kIsNarrow = std::is_same_v<T, fp16_t> || std::is_same_v<T, bfloat16>;

template <typename T>
struct Type {
  using type = T;
};

// Calls function with the C++ type of a data type. False for a type without one.
template <typename F>
bool WithType(ge::DataType type, F function) {
  switch (type) {
    case ge::DT_BOOL:
      return function(Type<Bool>()), true;
    case ge::DT_INT8:
      return function(Type<int8_t>()), true;
    case ge::DT_INT16:
      return function(Type<int16_t>()), true;
    case ge::DT_INT32:
      return function(Type<int32_t>()), true;
    case ge::DT_INT64:
      return function(Type<int64_t>()), true;
    case ge::DT_UINT8:
      return function(Type<uint8_t>()), true;
    case ge::DT_UINT16:
      return function(Type<uint16_t>()), true;
    case ge::DT_UINT32:
      return function(Type<uint32_t>()), true;
    case ge::DT_UINT64:
      return function(Type<uint64_t>()), true;
    case ge::DT_FLOAT16:
      return function(Type<fp16_t>()), true;
    case ge::DT_BF16:
      return function(Type<bfloat16>()), true;
    case ge::DT_FLOAT:
      return function(Type<float>()), true;
    case ge::DT_DOUBLE:
      return function(Type<double>()), true;
    case ge::DT_COMPLEX64:
      return function(Type<std::complex<float>>()), true;
    case ge::DT_COMPLEX128:
      return function(Type<std::complex<double>>()), true;
    default:
      return false;
  }
}

}  // namespace op::internal
