// SPDX-License-Identifier: Apache-2.0
// Sizes that kernels and op_host know by the same names.
#pragma once

#include <cstdint>

namespace AscendC {

constexpr uint32_t ONE_BLK_SIZE = 32;
#if __NPU_ARCH__ == 3510
constexpr uint32_t ONE_BLOCK_SIZE = ONE_BLK_SIZE;  // a second name of it
#endif
// Rows and columns of a fractal.
#ifdef __NPU_ARCH__
constexpr int32_t BLOCK_CUBE = 16;
#else
constexpr uint32_t BLOCK_CUBE = 16;
#endif

}  // namespace AscendC
