// SPDX-License-Identifier: Apache-2.0
// An operator without outputs, whose type is longer than a line of generated code has room for.
#include "parts/halves.h"
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"

namespace optiling {

BEGIN_TILING_DATA_DEF(HalveTilingData)
TILING_DATA_FIELD_DEF(uint32_t, count);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(HalveTheValuesWhereTheyStandWithoutAWord, HalveTilingData)

static ge::graphStatus HalveTiling(gert::TilingContext* context) {
  HalveTilingData data;
  data.set_count(parts::WholeBlocks(context->GetInputShape(0)->GetStorageShape().GetShapeSize()));
  data.SaveToBuffer(context->GetRawTilingData()->GetData(),
                    context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->SetBlockDim(1);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ops {

class HalveTheValuesWhereTheyStandWithoutAWord : public OpDef {
 public:
  explicit HalveTheValuesWhereTheyStandWithoutAWord(const char* name) : OpDef(name) {
    Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    AICore().SetTiling(optiling::HalveTiling);
    AICore().AddConfig("ascend910b");
  }
};
OP_ADD(HalveTheValuesWhereTheyStandWithoutAWord);

}  // namespace ops
