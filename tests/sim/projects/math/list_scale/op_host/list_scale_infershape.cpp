// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace ops {

static ge::graphStatus InferShapeListScale(gert::InferShapeContext* context) {
  for (size_t i = 0; i < context->GetComputeNodeInputNum(); ++i) {
    gert::Shape* out = context->GetOutputShape(i);
    OP_CHECK_NULL_WITH_CONTEXT(context, out);
    *out = *context->GetInputShape(i);
  }
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_INFERSHAPE(ListScale).InferShape(InferShapeListScale);

}  // namespace ops
