// SPDX-License-Identifier: Apache-2.0
// Definition of ScaledMaskedSoftmaxGradV2, with f = yGrad * y:
// xGrad = mask ? 0 : (f - sum(f, last dim) * y) * scale.
#include "common/grad_op_def.h"

namespace ops {

IMPL_OP_INFERSHAPE(ScaledMaskedSoftmaxGradV2)
    .InferShape(InferShapeLikeFirst)
    .InferDataType(InferDataTypeLikeFirst);

IMPL_OP_INFERSHAPE(ScaledMaskedSoftmaxGrad)
    .InferShape(InferShapeLikeFirst)
    .InferDataType(InferDataTypeLikeFirst);

class ScaledMaskedSoftmaxGradV2 : public OpDef {
 public:
  explicit ScaledMaskedSoftmaxGradV2(const char* name,
                                     const char* file = "scaled_masked_softmax_grad_v2")
      : OpDef(name) {
    const std::vector<ge::DataType> dtypes = {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16};
    DescribeTensors(*this, {"yGrad", "y"}, "xGrad", dtypes);
    DescribeTensor(this->Input("mask"), std::vector<ge::DataType>(dtypes.size(), ge::DT_BOOL))
        .ParamType(OPTIONAL)
        .AutoContiguous();
    this->Attr("scale").AttrType(OPTIONAL).Float(1.0F);
    this->Attr("fixed_triu_mask").AttrType(OPTIONAL).Bool(false);
    OpAICoreConfig config = DynamicKernel(file);
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
    this->AICore().AddConfig("ascend950", config);
  }
};

OP_ADD(ScaledMaskedSoftmaxGradV2);

// This is the operator by the type that clients without its aclnn function ask for.
class ScaledMaskedSoftmaxGrad : public ScaledMaskedSoftmaxGradV2 {
 public:
  explicit ScaledMaskedSoftmaxGrad(const char* name)
      : ScaledMaskedSoftmaxGradV2(name, "scaled_masked_softmax_grad") {}
};

OP_ADD(ScaledMaskedSoftmaxGrad);

}  // namespace ops
