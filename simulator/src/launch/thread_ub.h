// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace aclsim {

// UB of the core that this host thread runs: at least so many bytes, aligned to a page. Throws std::runtime_error when the host has no
// memory for it.
uint8_t* ThreadUb(uint64_t bytes);

}  // namespace aclsim
