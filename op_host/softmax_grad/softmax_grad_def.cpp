// SPDX-License-Identifier: Apache-2.0
// Definition of SoftmaxGrad, with f = grad_softmax * softmax: grad_x = f - sum(f, axes) * softmax.
#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"

namespace ops {
namespace {

ge::graphStatus InferShapeSoftmaxGrad(gert::InferShapeContext* context) {
  const gert::Shape* softmax = context->GetInputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, softmax);
  gert::Shape* gradX = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, gradX);
  *gradX = *softmax;
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataTypeSoftmaxGrad(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(0));
}

}  // namespace

IMPL_OP_INFERSHAPE(SoftmaxGrad)
    .InferShape(InferShapeSoftmaxGrad)
    .InferDataType(InferDataTypeSoftmaxGrad);

class SoftmaxGrad : public OpDef {
 public:
  explicit SoftmaxGrad(const char* name) : OpDef(name) {
    for (const char* input : {"softmax", "grad_softmax"}) {
      this->Input(input)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .AutoContiguous();
    }
    this->Output("grad_x")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
        .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("axes").AttrType(OPTIONAL).ListInt({-1});

    OpAICoreConfig config;
    config.DynamicCompileStaticFlag(true)
        .DynamicFormatFlag(false)
        .DynamicRankSupportFlag(true)
        .DynamicShapeSupportFlag(true)
        .NeedCheckSupportFlag(false)
        .ExtendCfgInfo("opFile.value", "softmax_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
  }
};

OP_ADD(SoftmaxGrad);

}  // namespace ops
