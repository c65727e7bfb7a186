// SPDX-License-Identifier: Apache-2.0
#include "../op_kernel/affine_tiling_data.h"
#include "op_host/infershape_elewise_util.h"
#include "register/op_impl_registry.h"

namespace optiling {

static ge::graphStatus AffineTiling(gert::TilingContext* context) {
  AffineTilingData* data = context->GetTilingData<AffineTilingData>();
  data->count = static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize());
  data->scale = *context->GetAttrs()->GetFloat(0);
  context->SetTilingKey(0);
  context->SetBlockDim(1);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(Affine).Tiling(AffineTiling);
IMPL_OP_INFERSHAPE(Affine).InferShape(Ops::Base::InferShape4Elewise);

}  // namespace optiling
