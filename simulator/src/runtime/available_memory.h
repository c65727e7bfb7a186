// SPDX-License-Identifier: Apache-2.0
// This tells what the host has of memory, and what this process has taken of it.
#pragma once

#include <cstdint>
#include <string>

namespace aclsim {

// Bytes that the host can give without swapping or an out-of-memory kill: what is free, or what the limits of the process's control
// groups leave, version 1 or 2. `limit`: what leaves no more, for messages.
struct AvailableMemory {
  uint64_t bytes = 0;
  std::string limit;
};
AvailableMemory HostMemoryAvailable();

// Bytes that this process has written to pages of its own.
uint64_t PrivateBytes();

}  // namespace aclsim
