// SPDX-License-Identifier: Apache-2.0
// Definition of KlDivLossGrad: y = -(log_target ? exp(target) : target) * grad * c. target and y
// have one shape, grad that shape or a single element. The values of input are not used, so its
// shape is free.
#include "common/grad_op_def.h"

namespace ops {
namespace {

constexpr size_t kTarget = 2;

ge::graphStatus InferShapeKlDivLossGrad(gert::InferShapeContext* context) {
  const gert::Shape* target = context->GetInputShape(kTarget);
  OP_CHECK_NULL_WITH_CONTEXT(context, target);
  gert::Shape* y = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, y);
  *y = *target;
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferDataTypeKlDivLossGrad(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(kTarget));
}

}  // namespace

IMPL_OP_INFERSHAPE(KlDivLossGrad)
    .InferShape(InferShapeKlDivLossGrad)
    .InferDataType(InferDataTypeKlDivLossGrad);

class KlDivLossGrad : public OpDef {
 public:
  explicit KlDivLossGrad(const char* name) : OpDef(name) {
    DescribeTensors(*this, {"grad", "input", "target"}, "y",
                    {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16});
    this->Attr("reduction").AttrType(OPTIONAL).String("mean");
    this->Attr("log_target").AttrType(OPTIONAL).Bool(false);
    OpAICoreConfig config = DynamicKernel("kl_div_loss_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
    this->AICore().AddConfig("ascend950", config);
  }
};

OP_ADD(KlDivLossGrad);

}  // namespace ops
