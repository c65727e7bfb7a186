// SPDX-License-Identifier: Apache-2.0
// Definition of SoftmaxCrossEntropyGrad: grad_x = exp(log_softmax) * sum(labels, axes) - labels.
#include "aclgrad/grad_op_def.h"

namespace ops {

IMPL_OP_INFERSHAPE(SoftmaxCrossEntropyGrad)
    .InferShape(InferShapeLikeFirst)
    .InferDataType(InferDataTypeLikeFirst);

class SoftmaxCrossEntropyGrad : public OpDef {
 public:
  explicit SoftmaxCrossEntropyGrad(const char* name) : OpDef(name) {
    DescribeTensors(*this, {"log_softmax", "labels"}, "grad_x",
                    {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16});
    this->Attr("axes").AttrType(OPTIONAL).ListInt({-1});
    OpAICoreConfig config = DynamicKernel("softmax_cross_entropy_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
    this->AICore().AddConfig("ascend950", config);
  }
};

OP_ADD(SoftmaxCrossEntropyGrad);

}  // namespace ops
