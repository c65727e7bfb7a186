// SPDX-License-Identifier: Apache-2.0
// The templates of this library are for architecture 3510 and not in the simulator. Their names are, as headers that sources for
// several architectures share say them; a source that uses one does not compile here.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/types.h"
#include "log/log.h"
#include "op_common/op_host/util/math_util.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"
#include "util/platform_util.h"

namespace Ops {
namespace Base {

inline constexpr uint64_t CACHE_BUF_SIZE = 16 * 1024;

// Members of what sources have for several architectures.
struct ReduceOpCompileInfo {
  uint64_t vectorCoreNum = 0;
  uint64_t ubSize = 0;
  uint64_t cacheLineSize = 0;
  uint64_t ubBlockSize = 0;
  uint64_t vRegSize = 0;
};

struct ReduceOpInputParam {
  uint32_t reservedSize = 0;
  uint32_t reservedNode = 0;
  bool isTailAOne = false;
  ge::DataType inputDtype = ge::DT_UNDEFINED;
  ge::DataType promoteDtpye = ge::DT_UNDEFINED;
  std::vector<int64_t> axes;
  std::vector<int64_t> shape;
  std::vector<int64_t> dimStrides;
};

struct ReduceTilingKey {
  uint32_t patternID = 0;
  uint32_t loopARCount = 0;
  uint32_t loopInnerARCount = 0;
  bool isContiguous = true;
  bool batchInvariant = false;
};

class ReduceOpTiling;

}  // namespace Base
}  // namespace Ops
