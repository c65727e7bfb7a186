// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace ops {

static ge::graphStatus InferShapeScaleAdd(gert::InferShapeContext* context) {
  const gert::Shape* x = context->GetInputShape(0);
  gert::Shape* y = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, x);
  OP_CHECK_NULL_WITH_CONTEXT(context, y);
  *y = *x;
  return ge::GRAPH_SUCCESS;
}

IMPL_OP_INFERSHAPE(ScaleAdd).InferShape(InferShapeScaleAdd);

}  // namespace ops
