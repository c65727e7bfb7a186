// SPDX-License-Identifier: Apache-2.0
#include "../op_kernel/scale_add_tiling_data.h"
#include "../op_kernel/scale_add_tiling_key.h"
#include "log/log.h"
#include "register/op_impl_registry.h"
#include "rounding.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

static ge::graphStatus ScaleAddTiling(gert::TilingContext* context) {
  auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
  OP_CHECK_IF(platform.GetCoreNumAiv() == 0, OP_LOGE(context, "no cores"), return ge::GRAPH_FAILED);
  const float* scale = context->GetAttrs()->GetFloat(0);
  const int64_t* repeat = context->GetAttrs()->GetInt(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, scale);
  OP_CHECK_NULL_WITH_CONTEXT(context, repeat);
  auto* data = context->GetTilingData<ScaleAddTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  data->total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  data->tile = RoundUp(1000, 64);
  data->scale = *scale;
  const bool hasBias = context->GetOptionalInputShape(1) != nullptr;
  const uint64_t times = *repeat == 2 ? SCALE_ADD_TWICE : SCALE_ADD_ONCE;
  const auto type = static_cast<uint64_t>(context->GetInputDesc(0)->GetDataType());
  context->SetTilingKey(GET_TPL_TILING_KEY(times, static_cast<uint64_t>(hasBias), type));
  context->SetBlockDim(1);
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(ScaleAdd).Tiling(ScaleAddTiling);

}  // namespace optiling
