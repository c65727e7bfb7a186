// SPDX-License-Identifier: Apache-2.0
// Exceptions of code that is not ours, of any type.
#pragma once

#include <string>

namespace aclsim {

// Describes the exception that is being caught, for a catch (...): "std::runtime_error: what it says", "int". Throws on what ends a
// thread, which no handler may keep.
std::string ThrownText();

}  // namespace aclsim
