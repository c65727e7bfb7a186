// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of GatherRows: y[i, :] = table[index[i], :].
#include "../op_kernel/gather_rows_tiling.h"

#include "host.h"

namespace ops {

class GatherRows : public OpDef {
 public:
  explicit GatherRows(const char* name) : OpDef(name) {
    const std::vector<ge::DataType> dtypes = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
    Describe(this->Input("table").AutoContiguous(), dtypes);
    Describe(this->Input("index").AutoContiguous(),
             std::vector<ge::DataType>(dtypes.size(), ge::DT_INT64));
    Describe(this->Output("y"), dtypes);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(GatherRows);

static ge::graphStatus InferGatherRows(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = gert::Shape(
      {context->GetInputShape(1)->GetShapeSize(), context->GetInputShape(0)->GetDim(1)});
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(GatherRows).InferShape(InferGatherRows);

}  // namespace ops

namespace optiling {

static ge::graphStatus TileGatherRows(gert::TilingContext* context) {
  auto* data = context->GetTilingData<GatherRowsTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::Shape& table = context->GetInputShape(0)->GetStorageShape();
  OP_CHECK_IF(table.GetDimNum() != 2, OP_LOGE(context, "table must be a matrix"),
              return ge::GRAPH_FAILED);
  data->tableRows = table.GetDim(0);
  data->columns = table.GetDim(1);
  data->indices = context->GetInputShape(1)->GetStorageShape().GetShapeSize();
  data->indicesPerCore = Share(data->indices, VectorCores(context));
  return Launch(context, (data->indices + data->indicesPerCore - 1) / data->indicesPerCore);
}
IMPL_OP_OPTILING(GatherRows).Tiling(TileGatherRows);

}  // namespace optiling
