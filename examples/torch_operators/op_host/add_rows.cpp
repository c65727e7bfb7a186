// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of AddRows: y[index[i], :] += x[i, :], on zeros.
#include "../op_kernel/add_rows_tiling.h"

#include "host.h"

namespace ops {

class AddRows : public OpDef {
 public:
  explicit AddRows(const char* name) : OpDef(name) {
    Describe(this->Input("x").AutoContiguous(), {ge::DT_FLOAT});
    Describe(this->Input("index").AutoContiguous(), {ge::DT_INT64});
    Describe(this->Output("y"), {ge::DT_FLOAT});
    this->Attr("rows").AttrType(REQUIRED).Int();
    this->Attr("skipped").AttrType(OPTIONAL).Int(-1);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(AddRows);

static ge::graphStatus InferAddRows(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) =
      gert::Shape({*context->GetAttrs()->GetInt(0), context->GetInputShape(0)->GetDim(1)});
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(AddRows).InferShape(InferAddRows);

}  // namespace ops

namespace optiling {

static ge::graphStatus TileAddRows(gert::TilingContext* context) {
  auto* data = context->GetTilingData<AddRowsTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& index = context->GetInputShape(1)->GetStorageShape();
  OP_CHECK_IF(x.GetDimNum() != 2 || x.GetDim(0) != index.GetShapeSize(),
              OP_LOGE(context, "x must be a matrix with a row for each index"),
              return ge::GRAPH_FAILED);
  data->rows = *context->GetAttrs()->GetInt(0);
  data->skipped = *context->GetAttrs()->GetInt(1);
  data->columns = x.GetDim(1);
  data->indices = index.GetShapeSize();
  data->rowsPerCore = Share(data->rows, VectorCores(context));
  return Launch(context, (data->rows + data->rowsPerCore - 1) / data->rowsPerCore);
}
IMPL_OP_OPTILING(AddRows).Tiling(TileAddRows);

}  // namespace optiling
