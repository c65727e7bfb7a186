// SPDX-License-Identifier: Apache-2.0
// printf into a string, for every library of the simulator.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace aclsim {

inline std::string FormatV(const char* fmt, va_list args) {
  va_list copy;
  va_copy(copy, args);
  const int length = std::vsnprintf(nullptr, 0, fmt, copy);
  va_end(copy);
  if (length < 0) {
    return fmt;
  }
  std::string text(static_cast<size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, fmt, args);
  return text;
}

__attribute__((format(printf, 1, 2))) inline std::string Format(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  std::string text = FormatV(fmt, args);
  va_end(args);
  return text;
}

}  // namespace aclsim
