// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of RowReduction: y[row] = sum, maximum or minimum of x[row, :].
#include "../op_kernel/row_reduction_tiling.h"

#include "host.h"

namespace ops {

class RowReduction : public OpDef {
 public:
  explicit RowReduction(const char* name) : OpDef(name) {
    Describe(this->Input("x").AutoContiguous(), {ge::DT_FLOAT});
    Describe(this->Output("y"), {ge::DT_FLOAT});
    this->Attr("kind").AttrType(OPTIONAL).Int(0);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(RowReduction);

static ge::graphStatus InferRowReduction(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = gert::Shape({context->GetInputShape(0)->GetDim(0)});
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(RowReduction).InferShape(InferRowReduction);

}  // namespace ops

namespace optiling {

static ge::graphStatus TileRowReduction(gert::TilingContext* context) {
  auto* data = context->GetTilingData<RowReductionTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  OP_CHECK_IF(x.GetDimNum() != 2 || x.GetDim(1) < 1,
              OP_LOGE(context, "x must be a matrix with columns"), return ge::GRAPH_FAILED);
  data->rows = x.GetDim(0);
  data->columns = x.GetDim(1);
  data->kind = static_cast<int32_t>(*context->GetAttrs()->GetInt(0));
  data->rowsPerCore = Share(data->rows, VectorCores(context));
  return Launch(context, (data->rows + data->rowsPerCore - 1) / data->rowsPerCore);
}
IMPL_OP_OPTILING(RowReduction).Tiling(TileRowReduction);

}  // namespace optiling
