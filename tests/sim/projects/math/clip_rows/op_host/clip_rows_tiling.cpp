// SPDX-License-Identifier: Apache-2.0
#include "clip_rows_tiling.h"

#include "log/log.h"
#include "register/op_impl_registry.h"

namespace optiling {

static ge::graphStatus ClipRowsTilingFunc(gert::TilingContext* context) {
  const auto* limits = context->GetAttrs()->GetListFloat(0);
  OP_CHECK_IF(limits == nullptr || limits->GetSize() != 2,
              OP_LOGE(context, "limits must be a pair"), return ge::GRAPH_FAILED);
  const gert::Shape& shape = context->GetInputShape(0)->GetStorageShape();
  OP_CHECK_IF(shape.GetDimNum() != 2, OP_LOGE(context, "x must be a matrix"),
              return ge::GRAPH_FAILED);
  ClipRowsTilingData data;
  data.set_flag(7);
  data.set_rows(shape.GetDim(0));
  const uint32_t sizes[3] = {1, static_cast<uint32_t>(shape.GetDim(1)), 3};
  data.set_sizes(sizes);
  data.limits.set_low(limits->GetData()[0]);
  data.limits.set_high(limits->GetData()[1]);
  gert::TilingData* raw = context->GetRawTilingData();
  data.SaveToBuffer(raw->GetData(), raw->GetCapacity());
  raw->SetDataSize(data.GetDataSize());
  context->SetTilingKey(shape.GetDim(1) > 100 ? 2 : 1);
  context->SetBlockDim(2);
  size_t* workspace = context->GetWorkspaceSizes(1);
  workspace[0] = 64;
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(ClipRows).Tiling(ClipRowsTilingFunc);

}  // namespace optiling
