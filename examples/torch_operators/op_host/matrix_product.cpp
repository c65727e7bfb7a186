// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of MatrixProduct: y[i] = a[i] x transposed b[i].
#include "../op_kernel/matrix_product_tiling.h"

#include "host.h"

namespace ops {

class MatrixProduct : public OpDef {
 public:
  explicit MatrixProduct(const char* name) : OpDef(name) {
    const std::vector<ge::DataType> dtypes = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
    Describe(this->Input("a").AutoContiguous(), dtypes);
    Describe(this->Input("b").AutoContiguous(), dtypes);
    Describe(this->Output("y"), std::vector<ge::DataType>(dtypes.size(), ge::DT_FLOAT));
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(MatrixProduct);

static ge::graphStatus InferMatrixProduct(gert::InferShapeContext* context) {
  const gert::Shape* a = context->GetInputShape(0);
  *context->GetOutputShape(0) =
      gert::Shape({a->GetDim(0), a->GetDim(1), context->GetInputShape(1)->GetDim(1)});
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(MatrixProduct).InferShape(InferMatrixProduct);

}  // namespace ops

namespace optiling {

constexpr int64_t kMostColumns = 65535;  // Nd2NzParams has 16 bits for the distance of two rows

static ge::graphStatus TileMatrixProduct(gert::TilingContext* context) {
  auto* data = context->GetTilingData<MatrixProductTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::Shape& a = context->GetInputShape(0)->GetStorageShape();
  const gert::Shape& b = context->GetInputShape(1)->GetStorageShape();
  OP_CHECK_IF(a.GetDimNum() != 3 || b.GetDimNum() != 3 || a.GetDim(0) != b.GetDim(0) ||
                  a.GetDim(2) != b.GetDim(2),
              OP_LOGE(context, "a and b must be lists of matrices with as many columns each"),
              return ge::GRAPH_FAILED);
  OP_CHECK_IF(a.GetDim(2) < 1 || a.GetDim(2) > kMostColumns,
              OP_LOGE(context, "K is %ld, wanted 1 to 65535", a.GetDim(2)),
              return ge::GRAPH_FAILED);
  data->batch = static_cast<uint32_t>(a.GetDim(0));
  data->m = static_cast<uint32_t>(a.GetDim(1));
  data->n = static_cast<uint32_t>(b.GetDim(1));
  data->k = static_cast<uint32_t>(a.GetDim(2));
  const auto tiles = [](int64_t size) { return (size + kProductTile - 1) / kProductTile; };
  const int64_t all = a.GetDim(0) * tiles(data->m) * tiles(data->n);
  return Launch(context, std::min(all, CubeCores(context)));
}
IMPL_OP_OPTILING(MatrixProduct).Tiling(TileMatrixProduct);

}  // namespace optiling
