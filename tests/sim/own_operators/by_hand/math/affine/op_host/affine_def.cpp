// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace ops {

class Affine : public OpDef {
 public:
  explicit Affine(const char* name) : OpDef(name) {
    Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Input("offset").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Attr("scale").AttrType(OPTIONAL).Float(1.0);
    AICore().AddConfig("ascend910b");
  }
};
OP_ADD(Affine);

}  // namespace ops
