// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace ops {

static ge::graphStatus InferShapeMatmulLeakyRelu(gert::InferShapeContext* context) {
  const gert::Shape& a = *context->GetInputShape(0);
  const gert::Shape& b = *context->GetInputShape(1);
  const gert::Shape& bias = *context->GetInputShape(2);
  OP_CHECK_IF(a.GetDimNum() != 2 || b.GetDimNum() != 2 || bias.GetDimNum() != 1,
              OP_LOGE(context, "a and b must be matrices, bias a row"), return ge::GRAPH_FAILED);
  const int64_t n = b.GetDim(1), k = b.GetDim(0);
  OP_CHECK_IF(a.GetDim(1) != k || bias.GetDim(0) != n,
              OP_LOGE(context, "a has rows of %ld, b is %ld x %ld, bias has %ld", a.GetDim(1), k, n,
                      bias.GetDim(0)),
              return ge::GRAPH_FAILED);
  gert::Shape* c = context->GetOutputShape(0);
  c->SetDimNum(0);
  c->AppendDim(a.GetDim(0));
  c->AppendDim(n);
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_INFERSHAPE(MatmulLeakyRelu).InferShape(InferShapeMatmulLeakyRelu);

}  // namespace ops
