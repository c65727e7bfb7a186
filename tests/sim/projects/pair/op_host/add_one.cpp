// SPDX-License-Identifier: Apache-2.0
// Adds one to what the output holds already.
#include "add_one_tiling.h"
#include "register/op_def_registry.h"

namespace optiling {

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
  AddOneTilingData data;
  data.set_count(
      static_cast<uint32_t>(context->GetInputShape(0)->GetStorageShape().GetShapeSize()));
  data.SaveToBuffer(context->GetRawTilingData()->GetData(),
                    context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->SetBlockDim(1);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ge {

static ge::graphStatus InferShape(gert::InferShapeContext* context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}

}  // namespace ge

namespace ops {

class AddOne : public OpDef {
 public:
  explicit AddOne(const char* name) : OpDef(name) {
    Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    SetInferShape(ge::InferShape);
    AICore().SetTiling(optiling::TilingFunc);
    AICore().AddConfig("ascend910b");
  }
};
OP_ADD(AddOne);

}  // namespace ops
