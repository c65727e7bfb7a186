// SPDX-License-Identifier: Apache-2.0
// MakeElementwisePlan is the tiling of the element-wise family (op_kernel/common/elementwise.h): a
// pure function of element count, dtype and SoC.
#ifndef OP_HOST_COMMON_ELEMENTWISE_TILING_H_
#define OP_HOST_COMMON_ELEMENTWISE_TILING_H_

#include <cstdint>
#include <string>

#include "common/elementwise_data.h"
#include "common/soc_facts.h"

namespace optiling {

struct ElementwisePlan {
  ElementwiseTilingData data{};
  int64_t lines = 0;  // GM lines of the tensor, on which cores and tiles start
  int64_t cores = 0;
  uint64_t ubBytes = 0;
};

// Plans a kernel that reads `inputs` tensors. Returns an empty string, or what is wrong and what
// would be right.
std::string MakeElementwisePlan(const char* op, int64_t total, uint32_t elementBytes,
                                uint32_t inputs, const SocFacts& soc, ElementwisePlan* plan);

}  // namespace optiling

#endif  // OP_HOST_COMMON_ELEMENTWISE_TILING_H_
