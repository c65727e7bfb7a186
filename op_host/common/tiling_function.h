// SPDX-License-Identifier: Apache-2.0
// This file has what every registered tiling function needs beside its own arithmetic.
#ifndef OP_HOST_COMMON_TILING_FUNCTION_H_
#define OP_HOST_COMMON_TILING_FUNCTION_H_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "register/op_impl_registry.h"

namespace optiling {

struct NoCompileInfo {};

// ParseNothing does nothing: all that a tiling function of these families needs comes with its
// context.
inline ge::graphStatus ParseNothing(gert::TilingParseContext* /* context */) {
  return ge::GRAPH_SUCCESS;
}

// TILING_FIELD_JSON writes a field of tiling data as JSON: `"name":value,`. The lists of fields are
// macros (ROW_REDUCE_TILING_FIELDS), so that no name is written twice.
#define TILING_FIELD_JSON(name) text += "\"" #name "\":" + std::to_string(data.name) + ",";

// JsonNumber writes a number as JSON. NaN and Inf, which JSON does not have, become strings.
inline std::string JsonNumber(float value) {
  char text[48];
  std::snprintf(text, sizeof(text), value - value == 0 ? "%.9g" : "\"%g\"",
                static_cast<double>(value));
  return text;
}

// Copies text into json. Returns its length without the terminator, or -1 when it does not fit.
inline int64_t PutJson(const std::string& text, char* json, uint64_t jsonSize) {
  if (json == nullptr || text.size() >= jsonSize) {
    return -1;
  }
  std::memcpy(json, text.c_str(), text.size() + 1);
  return static_cast<int64_t>(text.size());
}

// TilingJson is the body of <OpType>TilingJson. `fields` turns data into `"name":value,` ...
template <typename Data, typename Fields>
int64_t TilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize,
                   const Fields& fields) {
  if (data == nullptr || size != sizeof(Data)) {
    return -1;
  }
  Data copy;
  std::memcpy(&copy, data, sizeof(copy));
  std::string text = fields(copy);
  text.pop_back();  // the last comma
  return PutJson("{" + text + "}", json, jsonSize);
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_TILING_FUNCTION_H_
