// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of ScaledMaskedSoftmax: torch_npu asks for this type on A2 and A3, not for an aclnn function.
#include "../op_kernel/scaled_masked_softmax_tiling.h"

#include "host.h"

namespace ops {

class ScaledMaskedSoftmax : public OpDef {
 public:
  explicit ScaledMaskedSoftmax(const char* name) : OpDef(name) {
    const std::vector<ge::DataType> dtypes = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
    Describe(this->Input("x").AutoContiguous(), dtypes);
    Describe(this->Input("mask").AutoContiguous(),
             std::vector<ge::DataType>(dtypes.size(), ge::DT_BOOL));
    Describe(this->Output("y"), dtypes);
    this->Attr("scale").AttrType(OPTIONAL).Float(1.0F);
    this->Attr("fixed_triu_mask").AttrType(OPTIONAL).Bool(false);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(ScaledMaskedSoftmax);

static ge::graphStatus InferScaledMaskedSoftmax(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(ScaledMaskedSoftmax).InferShape(InferScaledMaskedSoftmax);

}  // namespace ops

namespace optiling {

static ge::graphStatus TileScaledMaskedSoftmax(gert::TilingContext* context) {
  auto* data = context->GetTilingData<ScaledMaskedSoftmaxTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::Shape& x = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& mask = context->GetInputShape(1)->GetStorageShape();
  OP_CHECK_IF(x.GetDimNum() != 4 || mask.GetDimNum() != 4 || x.GetDim(2) != mask.GetDim(2) ||
                  x.GetDim(3) != mask.GetDim(3),
              OP_LOGE(context, "x and mask must have 4 dims, the last two alike"),
              return ge::GRAPH_FAILED);
  for (size_t i = 0; i < 2; ++i) {
    OP_CHECK_IF(mask.GetDim(i) != 1 && mask.GetDim(i) != x.GetDim(i),
                OP_LOGE(context, "dim %zu of mask must be 1 or that of x", i),
                return ge::GRAPH_FAILED);
  }
  OP_CHECK_IF(x.GetDim(3) < 1 || x.GetDim(3) > kSoftmaxColumns,
              OP_LOGE(context, "rows have %ld columns, wanted 1 to 4096", x.GetDim(3)),
              return ge::GRAPH_FAILED);
  data->batch = x.GetDim(0);
  data->heads = x.GetDim(1);
  data->rows = x.GetDim(2);
  data->columns = x.GetDim(3);
  data->maskBatch = mask.GetDim(0);
  data->maskHeads = mask.GetDim(1);
  data->scale = *context->GetAttrs()->GetFloat(0);
  data->aboveDiagonal = *context->GetAttrs()->GetBool(1) ? 1 : 0;
  const int64_t all = data->batch * data->heads * data->rows;
  data->rowsPerCore = Share(all, VectorCores(context));
  return Launch(context, (all + data->rowsPerCore - 1) / data->rowsPerCore);
}
IMPL_OP_OPTILING(ScaledMaskedSoftmax).Tiling(TileScaledMaskedSoftmax);

}  // namespace optiling
