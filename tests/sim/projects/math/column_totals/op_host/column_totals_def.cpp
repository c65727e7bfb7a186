// SPDX-License-Identifier: Apache-2.0
#include "register/op_def_registry.h"

namespace ops {

class ColumnTotals : public OpDef {
 public:
  explicit ColumnTotals(const char* name) : OpDef(name) {
    Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    Output("y")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT})
        .Format({ge::FORMAT_ND})
        .InitValue({ScalarType::INT16, 5});
    Attr("scales").AttrType(OPTIONAL).ListFloat({});
    Attr("keep").AttrType(OPTIONAL).ListBool({false});
    AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ColumnTotals);

}  // namespace ops
