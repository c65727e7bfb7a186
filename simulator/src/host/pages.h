// SPDX-License-Identifier: Apache-2.0
// The host's pages: what the system maps, protects and gives back is whole ones. 4 KB on most hosts, 16 or 64 KB on some of AArch64.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace aclsim {

inline uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

inline uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline uint64_t RoundDown(uint64_t value, uint64_t unit) { return value / unit * unit; }

}  // namespace aclsim
