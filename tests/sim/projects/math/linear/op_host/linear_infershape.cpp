// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace ops {

static ge::graphStatus InferShapeLinear(gert::InferShapeContext* context) {
  const gert::Shape& x = *context->GetInputShape(0);
  const gert::Shape& weight = *context->GetInputShape(1);
  OP_CHECK_IF(x.GetDimNum() != 2 || weight.GetDimNum() != 2 || x.GetDim(1) != weight.GetDim(1),
              OP_LOGE(context, "x and weight must be matrices with rows of one length"),
              return ge::GRAPH_FAILED);
  gert::Shape* y = context->GetOutputShape(0);
  y->SetDimNum(0);
  y->AppendDim(x.GetDim(0));
  y->AppendDim(weight.GetDim(0));
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_INFERSHAPE(Linear).InferShape(InferShapeLinear);

}  // namespace ops
