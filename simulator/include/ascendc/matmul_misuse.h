// SPDX-License-Identifier: Apache-2.0
// Matmul objects report wrong calls here, as findings of the kind matmul-use.
#pragma once

#include <cstdio>

#include "ascendc/cube_abi.h"

namespace AscendC::detail::mm {

inline constexpr const char* kEndBetween =
    "Both objects use the same memories and flags. Call End after the products of one and before "
    "those of another.";
inline constexpr const char* kNoEndBetween =
    "the object ends after products of another one, and End was not called between the two";

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
