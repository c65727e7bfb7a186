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
  context->SetBlockDim(1);
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(ListScale).Tiling(ListScaleTiling).PrivateAttr("factor", 3.0f);

}  // namespace optiling
