// SPDX-License-Identifier: Apache-2.0
// Definition of LogSigmoidGrad: backprops = grads / (1 + exp(features)).
#include "common/grad_op_def.h"

namespace ops {

IMPL_OP_INFERSHAPE(LogSigmoidGrad)
    .InferShape(InferShapeLikeFirst)
    .InferDataType(InferDataTypeLikeFirst);

class LogSigmoidGrad : public OpDef {
 public:
  explicit LogSigmoidGrad(const char* name) : OpDef(name) {
    DescribeTensors(*this, {"grads", "features"}, "backprops",
                    {ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_BF16});
    OpAICoreConfig config = DynamicKernel("log_sigmoid_grad");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend910_93", config);
    this->AICore().AddConfig("ascend950", config);
  }
};

OP_ADD(LogSigmoidGrad);

}  // namespace ops
