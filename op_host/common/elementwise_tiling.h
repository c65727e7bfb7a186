// SPDX-License-Identifier: Apache-2.0
// Tiling of the element-wise family (op_kernel/common/elementwise.h): a pure function of element
// count, dtype and SoC.
#ifndef OP_HOST_COMMON_ELEMENTWISE_TILING_H_
#define OP_HOST_COMMON_ELEMENTWISE_TILING_H_

#include <cstdint>
#include <string>

#include "common/row_reduce_tiling.h"

namespace optiling {

struct ElementwisePlan {
  int64_t total = 0;      // elements
  int64_t lineLanes = 0;  // elements of a GM line, on which cores and tiles start
  int64_t lines = 0;
  int64_t cores = 0;
  int64_t tileLanes = 0;
  int32_t pastL2 = 0;
  uint64_t ubBytes = 0;
};

// inputs: how many tensors the kernel streams. Returns an empty string, or what is wrong and what
// would be right.
std::string MakeElementwisePlan(const char* op, int64_t total, uint32_t elementBytes,
                                uint32_t inputs, const SocFacts& soc, ElementwisePlan* plan);

template <typename TilingData>
void FillTiling(const ElementwisePlan& plan, TilingData* data) {
  *data = TilingData{};
  data->total = plan.total;
  data->lanesPerCore = plan.lines / plan.cores * plan.lineLanes;
  data->extraCores = static_cast<int32_t>(plan.lines % plan.cores);
  data->lineLanes = static_cast<int32_t>(plan.lineLanes);
  data->tileLanes = static_cast<int32_t>(plan.tileLanes);
  data->pastL2 = plan.pastL2;
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_ELEMENTWISE_TILING_H_
