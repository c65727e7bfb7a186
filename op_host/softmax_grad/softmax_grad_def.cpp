// SPDX-License-Identifier: Apache-2.0
// Definition of SoftmaxGrad, with f = grad_softmax * softmax: grad_x = f - sum(f, axes) * softmax.
#include "common/grad_op_def.h"

namespace ops {

IMPL_OP_INFERSHAPE(SoftmaxGrad)
    .InferShape(InferShapeLikeFirst)
    .InferDataType(InferDataTypeLikeFirst);

class SoftmaxGrad : public OpDef {
 public:
  explicit SoftmaxGrad(const char* name) : OpDef(name) {
    DescribeTensors(*this, {"softmax", "grad_softmax"}, "grad_x",
                    {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16});
    this->Attr("axes").AttrType(OPTIONAL).ListInt({-1});
    OpAICoreConfig config = DynamicKernel("softmax_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
    this->AICore().AddConfig("ascend950", config);
    OpAICoreConfig noBf16 = DynamicKernel("softmax_grad");
    DescribeTensors(noBf16, {"softmax", "grad_softmax"}, "grad_x", {ge::DT_FLOAT, ge::DT_FLOAT16});
    this->AICore().AddConfig("ascend310p", noBf16);
    this->AICore().AddConfig("ascend910", noBf16);
  }
};

OP_ADD(SoftmaxGrad);

}  // namespace ops
