// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace ops {

class ListScale : public OpDef {
 public:
  explicit ListScale(const char* name) : OpDef(name) {
    Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Output("y").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ListScale);

}  // namespace ops
