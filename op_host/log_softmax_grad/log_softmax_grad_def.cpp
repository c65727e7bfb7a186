// SPDX-License-Identifier: Apache-2.0
// Definition of LogSoftmaxGrad: y = grad - exp(x) * sum(grad, axis), where x is the log-softmax itself.
#include "common/grad_op_def.h"

namespace ops {

IMPL_OP_INFERSHAPE(LogSoftmaxGrad)
    .InferShape(InferShapeLikeFirst)
    .InferDataType(InferDataTypeLikeFirst);

class LogSoftmaxGrad : public OpDef {
 public:
  explicit LogSoftmaxGrad(const char* name) : OpDef(name) {
    DescribeTensors(*this, {"grad", "x"}, "y", {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16});
    this->Attr("axis").AttrType(OPTIONAL).ListInt({-1});
    OpAICoreConfig config = DynamicKernel("log_softmax_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
    this->AICore().AddConfig("ascend950", config);
    OpAICoreConfig noBf16 = DynamicKernel("log_softmax_grad");
    DescribeTensors(noBf16, {"grad", "x"}, "y", {ge::DT_FLOAT, ge::DT_FLOAT16});
    this->AICore().AddConfig("ascend310p", noBf16);
    this->AICore().AddConfig("ascend910", noBf16);
  }
};

OP_ADD(LogSoftmaxGrad);

}  // namespace ops
