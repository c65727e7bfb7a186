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
  // A copy and what is assigned share their memory, structs within too, which outlives the first one.
  ClipRowsTilingData data = [] {
    ClipRowsTilingData first;
    first.set_flag(6);
    ClipRowsTilingData copy(first);
    copy.limits.set_low(-9);
    first.limits.set_high(copy.limits.get_low() == first.limits.get_low() ? 9 : 0);
    return ClipRowsTilingData(copy);
  }();
  ClipRowsTilingData other;
  other = data;
  if (data.get_flag() != 6 || data.limits.get_high() != 9 || other.limits.get_low() != -9) {
    return ge::GRAPH_FAILED;
  }
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
