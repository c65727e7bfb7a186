// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace ops {

static ge::graphStatus InferShapeLinearGelu(gert::InferShapeContext* context) {
  const gert::Shape& x = *context->GetInputShape(0);
  const gert::Shape& weight = *context->GetInputShape(1);
  OP_CHECK_IF(x.GetDimNum() != 2 || weight.GetDimNum() != 2 || x.GetDim(1) != weight.GetDim(1),
              OP_LOGE(context, "x and weight must be matrices with rows of one length"),
              return ge::GRAPH_FAILED);
  const gert::Shape& bias = *context->GetInputShape(2);
  OP_CHECK_IF(bias.GetDimNum() != 1 || bias.GetDim(0) != weight.GetDim(0),
              OP_LOGE(context, "bias must have an element for each row of weight"),
              return ge::GRAPH_FAILED);
  gert::Shape* y = context->GetOutputShape(0);
  y->SetDimNum(0);
  y->AppendDim(x.GetDim(0));
  y->AppendDim(weight.GetDim(0));
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_INFERSHAPE(LinearGelu).InferShape(InferShapeLinearGelu);

}  // namespace ops
