// SPDX-License-Identifier: Apache-2.0
// For the functions that the simulator has by name only (src/unsupported/functions.json).
#pragma once

#include <cstdint>

namespace aclsim {

// Notes for aclGetRecentErrMsg what the function would be and what to do instead; returns code.
int32_t Unsupported(const char* function, const char* feature, const char* instead,
                    int32_t code) noexcept;

}  // namespace aclsim
