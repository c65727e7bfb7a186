// SPDX-License-Identifier: Apache-2.0
// Definition of LogSigmoidGrad: backprops = grads / (1 + exp(features)).
#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"

namespace ops {
namespace {

ge::graphStatus InferShapeLogSigmoidGrad(gert::InferShapeContext* context) {
  const gert::Shape* grads = context->GetInputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, grads);
  gert::Shape* backprops = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, backprops);
  *backprops = *grads;
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataTypeLogSigmoidGrad(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(0));
}

}  // namespace

IMPL_OP_INFERSHAPE(LogSigmoidGrad)
    .InferShape(InferShapeLogSigmoidGrad)
    .InferDataType(InferDataTypeLogSigmoidGrad);

class LogSigmoidGrad : public OpDef {
 public:
  explicit LogSigmoidGrad(const char* name) : OpDef(name) {
    for (const char* input : {"grads", "features"}) {
      this->Input(input)
          .ParamType(REQUIRED)
          .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
          .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
          .AutoContiguous();
    }
    this->Output("backprops")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND})
        .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND, ge::FORMAT_ND});

    OpAICoreConfig config;
    config.DynamicCompileStaticFlag(true)
        .DynamicFormatFlag(false)
        .DynamicRankSupportFlag(true)
        .DynamicShapeSupportFlag(true)
        .NeedCheckSupportFlag(false)
        .ExtendCfgInfo("opFile.value", "log_sigmoid_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
  }
};

OP_ADD(LogSigmoidGrad);

}  // namespace ops
