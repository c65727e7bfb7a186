// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace optiling {

struct ListScaleTilingData {
  uint32_t count;
};

// The private attribute: what to multiply with.
static ge::graphStatus ListScaleTiling(gert::TilingContext* context) {
  const float* factor = context->GetAttrs()->GetFloat(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, factor);
  OP_CHECK_IF(*factor != 3.0f, OP_LOGE(context, "factor is %f", *factor), return ge::GRAPH_FAILED);
  auto* data = context->GetTilingData<ListScaleTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  data->count = context->GetIrInputInstanceInfo(0)->GetInstanceNum();
  for (uint32_t i = 0; i < data->count; ++i) {
    OP_CHECK_IF(context->GetDynamicInputShape(0, i)->GetStorageShape().GetShapeSize() > 2048,
                OP_LOGE(context, "tensors have at most 2048 elements"), return ge::GRAPH_FAILED);
  }
  context->SetBlockDim(1);
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(ListScale).Tiling(ListScaleTiling).PrivateAttr("factor", 3.0f);

}  // namespace optiling
