// SPDX-License-Identifier: Apache-2.0
// A mode says how TopK lays out its results, for kernels and host tiling.
#pragma once

namespace AscendC {

enum class TopKMode {
  TOPK_NORMAL,  // rows padded to whole blocks
  TOPK_NSMALL,  // rows of 32 elements, results without padding
};

}  // namespace AscendC
