// SPDX-License-Identifier: Apache-2.0
// What every registered tiling function needs beside its own arithmetic.
#ifndef OP_HOST_COMMON_TILING_FUNCTION_H_
#define OP_HOST_COMMON_TILING_FUNCTION_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "register/op_impl_registry.h"

namespace optiling {

struct NoCompileInfo {};

// Everything that a tiling function of these families needs comes with its context.
inline ge::graphStatus ParseNothing(gert::TilingParseContext* /* context */) {
  return ge::GRAPH_SUCCESS;
}

// Copies text into json. Returns its length without the terminator, or -1 when it does not fit.
inline int64_t PutJson(const std::string& text, char* json, uint64_t jsonSize) {
  if (json == nullptr || text.size() >= jsonSize) {
    return -1;
  }
  std::memcpy(json, text.c_str(), text.size() + 1);
  return static_cast<int64_t>(text.size());
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_TILING_FUNCTION_H_
