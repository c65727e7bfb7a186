// SPDX-License-Identifier: Apache-2.0
#include "parts/halves.h"

namespace parts {

uint32_t WholeBlocks(int64_t values) { return static_cast<uint32_t>(values / 8 * 8); }

}  // namespace parts
