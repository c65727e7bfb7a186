// SPDX-License-Identifier: Apache-2.0
// Matmul objects report wrong calls here, as findings of the kind matmul-use.
#pragma once

#include <cstdio>

#include "ascendc/cube_abi.h"

namespace AscendC::detail::mm {

// A mistake in the use of an object: ends the core.
template <typename... Args>
[[noreturn]] void Misuse(const char* call, const char* next, const char* format, Args... args) {
  char text[512] = "";
  if constexpr (sizeof...(Args) == 0) {
    std::snprintf(text, sizeof(text), "%s", format);
  } else {
    std::snprintf(text, sizeof(text), format, args...);
  }
  aclsim::MatmulMisuse(call, text, next);
}

}  // namespace AscendC::detail::mm
