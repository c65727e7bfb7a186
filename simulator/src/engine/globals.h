// SPDX-License-Identifier: Apache-2.0
// Arrays that a kernel's source declares in GM: `const __gm__ int32_t table[256]`. They lie in the kernel's library.
#pragma once

#include <optional>

#include "engine/kernel_launch.h"

namespace aclsim {

// The array that holds addr, in the library or program that holds `code`.
std::optional<GmRegion> FindGlobal(const void* code, const void* addr);

}  // namespace aclsim
