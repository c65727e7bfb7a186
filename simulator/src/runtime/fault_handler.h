// SPDX-License-Identifier: Apache-2.0
// SIGSEGV on device addresses, and host copies that survive a bad host pointer.
#pragma once

#include <cstddef>

namespace aclsim {

// Installs the handler once per process.
void InstallFaultHandler();

// memcpy/memset that return false when one of the addresses is not mapped or not permitted, instead
// of ending the process.
bool GuardedCopy(void* dst, const void* src, size_t bytes);
bool GuardedFill(void* dst, int value, size_t bytes);

}  // namespace aclsim
