// SPDX-License-Identifier: Apache-2.0
// Sizes of the chip for kernels.
#pragma once

#include "kernel_operator.h"

namespace Ops {
namespace Base {

__aicore__ inline constexpr uint32_t GetUbBlockSize() { return 32; }
__aicore__ inline constexpr uint32_t GetVRegSize() { return 256; }

}  // namespace Base
}  // namespace Ops
