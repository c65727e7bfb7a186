// SPDX-License-Identifier: Apache-2.0
// Host code of the same program that no device compiler sees.
#include <cstdint>

uint32_t BlocksFrom(const char* word) { return static_cast<uint32_t>(word[0] - '0'); }
