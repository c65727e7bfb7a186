// SPDX-License-Identifier: Apache-2.0
// On no include path that a repository is known by; its source is among the common ones.
#pragma once

#include <cstdint>

namespace parts {

uint32_t WholeBlocks(int64_t values);

}  // namespace parts
