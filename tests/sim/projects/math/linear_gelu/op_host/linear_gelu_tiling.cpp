// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../op_kernel/linear_gelu_tiling_data.h"
#include "log/log.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

static ge::graphStatus LinearGeluTiling(gert::TilingContext* context) {
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& weight = context->GetInputShape(1)->GetStorageShape();
  const int64_t m = x.GetDim(0), n = weight.GetDim(0), k = x.GetDim(1);
  OP_CHECK_IF(k < 1 || k > 65535, OP_LOGE(context, "k must be 1 to 65535"),
              return ge::GRAPH_FAILED);
  auto* sizes = context->GetTilingData<LinearGeluTilingData>();
  sizes->m = static_cast<uint32_t>(m);
  sizes->n = static_cast<uint32_t>(n);
  sizes->k = static_cast<uint32_t>(k);
  const int64_t tiles = (m + kTile - 1) / kTile * ((n + kTile - 1) / kTile);
  const auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  // A MIX kernel is launched on AI cores: as many as there are AICs.
  const auto cores = static_cast<uint32_t>(
      std::clamp<int64_t>(tiles, 1, static_cast<int64_t>(platform.GetCoreNumAic())));
  context->SetBlockDim(cores);
  context->SetTilingKey(0);
  context->GetWorkspaceSizes(1)[0] =
      platform.GetLibApiWorkSpaceSize() + size_t{cores} * kSlots * kTile * kTile * sizeof(float);
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(LinearGelu).Tiling(LinearGeluTiling);

}  // namespace optiling
