// SPDX-License-Identifier: Apache-2.0
// The definitions and tiling functions of this folder share these.
#pragma once

#include <algorithm>
#include <vector>

#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace ops {

// Column i of all tensors is one combination of dtypes.
inline void Describe(OpParamDef& tensor, const std::vector<ge::DataType>& dtypes) {
  const std::vector<ge::Format> formats(dtypes.size(), ge::FORMAT_ND);
  tensor.ParamType(REQUIRED).DataType(dtypes).Format(formats).UnknownShapeFormat(formats);
}

}  // namespace ops

namespace optiling {

inline int64_t VectorCores(gert::TilingContext* context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
}

inline int64_t CubeCores(gert::TilingContext* context) {
  return platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAic();
}

// Returns how many of `items` each of at most `cores` cores has, in steps of `unit`.
inline int64_t Share(int64_t items, int64_t cores, int64_t unit = 1) {
  const int64_t units = (items + unit - 1) / unit;
  return std::max<int64_t>((units + cores - 1) / cores, 1) * unit;
}

// Ends a tiling function: these cores run the kernel's only case.
inline ge::graphStatus Launch(gert::TilingContext* context, int64_t cores) {
  size_t* workspace = context->GetWorkspaceSizes(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
  workspace[0] = 0;
  context->SetBlockDim(static_cast<uint32_t>(std::max<int64_t>(cores, 1)));
  context->SetTilingKey(1);
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling
