// SPDX-License-Identifier: Apache-2.0
#include "column_totals_tiling.h"

#include "atvoss/elewise/elewise_tiling.h"
#include "log/log.h"
#include "op_host/util/fp16.h"
#include "register/op_impl_registry.h"

namespace optiling {

template <typename Data>
static void Save(gert::TilingContext* context, Data& data, const gert::Shape& shape) {
  data.set_rows(shape.GetDim(0));
  data.set_columns(static_cast<uint32_t>(shape.GetDim(1)));
  gert::TilingData* raw = context->GetRawTilingData();
  data.SaveToBuffer(raw->GetData(), raw->GetCapacity());
  raw->SetDataSize(data.GetDataSize());
}

static ge::graphStatus ColumnTotalsTilingFunc(gert::TilingContext* context) {
  const gert::Shape& shape = context->GetInputShape(0)->GetStorageShape();
  OP_CHECK_IF(shape.GetDimNum() != 2 || shape.GetDim(1) % 8 != 0 || context->InputIsView(0),
              OP_LOGE(context, "x must be a matrix with whole blocks in a row"),
              return ge::GRAPH_FAILED);
  OP_CHECK_IF(shape.GetDim(1) > 32768, OP_LOGE(context, "rows must fit into UB"),
              return ge::GRAPH_FAILED);
  const auto* scales = context->GetAttrs()->GetListFloat(0);
  if (scales->GetSize() > 0) {
    ColumnTotalsScaledTilingData data;
    // 0x4000 are the bits of 2 as a half.
    data.set_scale(scales->GetData()[0] * float(Ops::Base::fp16_t(uint16_t(0x4000))));
    Save(context, data, shape);
    context->SetTilingKey(7);
  } else {
    ColumnTotalsTilingData data;
    Save(context, data, shape);
    context->SetTilingKey(1);
  }
  context->SetBlockDim(2);
  context->SetNeedAtomic(true);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(ColumnTotals).Tiling(ColumnTotalsTilingFunc);

}  // namespace optiling
