// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace ops {

class ScaleAdd : public OpDef {
 public:
  explicit ScaleAdd(const char* name) : OpDef(name) {
    Input("x")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Input("bias")
        .ParamType(OPTIONAL)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Output("y")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Attr("scale").AttrType(OPTIONAL).Float(2.0f);
    Attr("repeat").AttrType(OPTIONAL).Int(1);
    OpAICoreConfig config;
    config.DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "scale_add");
    AICore().AddConfig("ascend910b", config);
  }
};
OP_ADD(ScaleAdd);

}  // namespace ops
