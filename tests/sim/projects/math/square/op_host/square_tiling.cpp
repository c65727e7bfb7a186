// SPDX-License-Identifier: Apache-2.0
#include "../op_kernel/square_tiling_data.h"
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace optiling {

static ge::graphStatus SquareTiling(gert::TilingContext* context) {
  const gert::Shape& shape = context->GetInputShape(0)->GetStorageShape();
  // Not for matrices: the first shapes that somebody tries are refused.
  OP_CHECK_IF(shape.GetDimNum() == 2, OP_LOGE(context, "x must not be a matrix"),
              return ge::GRAPH_FAILED);
  OP_CHECK_IF(shape.GetShapeSize() > 8192, OP_LOGE(context, "x must have at most 32 KB"),
              return ge::GRAPH_FAILED);
  context->GetTilingData<SquareTilingData>()->count = static_cast<uint32_t>(shape.GetShapeSize());
  context->SetTilingKey(0);
  context->SetBlockDim(1);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(Square).Tiling(SquareTiling);

}  // namespace optiling
