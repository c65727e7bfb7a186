// SPDX-License-Identifier: Apache-2.0
// Tiling structs of the high-level API as kernels see them: the fields in the order in which host tiling writes them.
#pragma once

#include <cstdint>

struct SoftMaxTiling {
  uint32_t srcM = 0;
  uint32_t srcK = 0;
  uint32_t srcSize = 0;
  uint32_t outMaxM = 0;
  uint32_t outMaxK = 0;
  uint32_t outMaxSize = 0;
  uint32_t splitM = 0;
  uint32_t splitK = 0;
  uint32_t splitSize = 0;
  uint32_t reduceM = 0;
  uint32_t reduceK = 0;
  uint32_t reduceSize = 0;
  uint32_t rangeM = 0;
  uint32_t tailM = 0;
  uint32_t tailSplitSize = 0;
  uint32_t tailReduceSize = 0;
};
static_assert(sizeof(SoftMaxTiling) == 64, "the layout of the host's struct");

// The same fields under another name.
struct LogSoftMaxTiling : SoftMaxTiling {};
static_assert(sizeof(LogSoftMaxTiling) == 64, "the layout of the host's struct");

namespace AscendC::tiling {
using ::LogSoftMaxTiling;
using ::SoftMaxTiling;
}  // namespace AscendC::tiling
