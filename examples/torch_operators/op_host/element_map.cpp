// SPDX-License-Identifier: Apache-2.0
// Definition and tiling of ElementMap: y = formula(a, b, c), element by element.
#include "../op_kernel/element_map_tiling.h"

#include "host.h"

namespace ops {

class ElementMap : public OpDef {
 public:
  explicit ElementMap(const char* name) : OpDef(name) {
    const std::vector<ge::DataType> dtypes = {ge::DT_FLOAT, ge::DT_INT64};
    for (const char* input : {"a", "b", "c"}) Describe(this->Input(input).AutoContiguous(), dtypes);
    Describe(this->Output("y"), dtypes);
    this->Attr("formula").AttrType(REQUIRED).Int();
    this->Attr("s").AttrType(OPTIONAL).Float(1.0F);
    this->Attr("t").AttrType(OPTIONAL).Float(0.0F);
    this->Attr("whole_s").AttrType(OPTIONAL).Int(1);
    this->Attr("whole_t").AttrType(OPTIONAL).Int(0);
    this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
  }
};
OP_ADD(ElementMap);

static ge::graphStatus InferElementMap(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(ElementMap).InferShape(InferElementMap);

}  // namespace ops

namespace optiling {

static ge::graphStatus TileElementMap(gert::TilingContext* context) {
  const auto* attrs = context->GetAttrs();
  auto* data = context->GetTilingData<ElementMapTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, attrs);
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::Shape& a = context->GetInputShape(0)->GetStorageShape();
  for (size_t i = 1; i < 3; ++i) {
    OP_CHECK_IF(context->GetInputShape(i)->GetStorageShape() != a,
                OP_LOGE(context, "a, b and c must have one shape"), return ge::GRAPH_FAILED);
  }
  data->formula = static_cast<int32_t>(*attrs->GetInt(0));
  const bool whole = context->GetInputDesc(0)->GetDataType() == ge::DT_INT64;
  const auto formula = static_cast<ElementMapFormula>(data->formula);
  OP_CHECK_IF(
      whole &&
          (formula >= ElementMapFormula::kAddQuotient || formula == ElementMapFormula::kDivide),
      OP_LOGE(context, "formula %d is for floating point", data->formula), return ge::GRAPH_FAILED);
  OP_CHECK_IF(!whole && formula == ElementMapFormula::kIndex,
              OP_LOGE(context, "formula %d is for whole numbers", data->formula),
              return ge::GRAPH_FAILED);
  data->elements = a.GetShapeSize();
  data->s = *attrs->GetFloat(1);
  data->t = *attrs->GetFloat(2);
  data->wholeS = *attrs->GetInt(3);
  data->wholeT = *attrs->GetInt(4);
  const int64_t tiles = (data->elements + kMapTile - 1) / kMapTile;
  data->tilesPerCore = Share(tiles, VectorCores(context));
  return Launch(context, (tiles + data->tilesPerCore - 1) / data->tilesPerCore);
}
IMPL_OP_OPTILING(ElementMap).Tiling(TileElementMap);

}  // namespace optiling
