// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace ops {

class ClipRows : public OpDef {
 public:
  explicit ClipRows(const char* name) : OpDef(name) {
    Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Output("copy").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Attr("limits").AttrType(REQUIRED).ListFloat();
    AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ClipRows);

}  // namespace ops
