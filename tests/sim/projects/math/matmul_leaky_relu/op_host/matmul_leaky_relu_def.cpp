// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace ops {

class MatmulLeakyRelu : public OpDef {
 public:
  explicit MatmulLeakyRelu(const char* name) : OpDef(name) {
    Input("a")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Input("b")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT16, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Input("bias")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Output("c")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    Attr("negative_slope").AttrType(OPTIONAL).Float(0.01);
    AICore().AddConfig("ascend910b");
    AICore().AddConfig("ascend950");
  }
};
OP_ADD(MatmulLeakyRelu);

}  // namespace ops
