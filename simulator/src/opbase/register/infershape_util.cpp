// SPDX-License-Identifier: Apache-2.0
// Shape inference that many operators share.
#include <algorithm>

#include "log/log.h"
#include "op_common/op_host/infershape_broadcast_util.h"
#include "op_common/op_host/infershape_elewise_util.h"
#include "op_common/op_host/infershape_reduce_util.h"

namespace Ops {
namespace Base {

ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context) {
  const gert::Shape* in = context->GetInputShape(0);
  gert::Shape* out = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, in);
  OP_CHECK_NULL_WITH_CONTEXT(context, out);
  *out = *in;
  return ge::GRAPH_SUCCESS;
}

bool BroadcastShape(const gert::Shape* a, const gert::Shape* b, gert::Shape* out) {
  const size_t rank = std::max(a->GetDimNum(), b->GetDimNum());
  gert::Shape result;
  for (size_t i = 0; i < rank; ++i) {
    const size_t fromEnd = rank - i;
    const int64_t x = fromEnd > a->GetDimNum() ? 1 : a->GetDim(a->GetDimNum() - fromEnd);
    const int64_t y = fromEnd > b->GetDimNum() ? 1 : b->GetDim(b->GetDimNum() - fromEnd);
    if (x != y && x != 1 && y != 1) return false;
    result.AppendDim(x == 1 ? y : x);
  }
  *out = result;
  return true;
}

bool BroadcastShape(const std::vector<const gert::Shape*>& shapes, gert::Shape* out) {
  gert::Shape result;
  for (const gert::Shape* shape : shapes) {
    if (!BroadcastShape(&result, shape, &result)) return false;
  }
  *out = result;
  return true;
}

ge::graphStatus InferShape4Reduce(gert::InferShapeContext* context) {
  const gert::Shape* in = context->GetInputShape(0);
  const gert::Tensor* axes = context->GetInputTensor(1);
  gert::Shape* out = context->GetOutputShape(0);
  const gert::RuntimeAttrs* attrs = context->GetAttrs();
  OP_CHECK_NULL_WITH_CONTEXT(context, in);
  OP_CHECK_NULL_WITH_CONTEXT(context, axes);
  OP_CHECK_NULL_WITH_CONTEXT(context, out);
  OP_CHECK_NULL_WITH_CONTEXT(context, attrs);
  const bool* keep = attrs->GetBool(0);
  const bool keepDims = keep != nullptr && *keep;
  const auto count = static_cast<int32_t>(axes->GetShapeSize());
  switch (axes->GetDataType()) {
    case ge::DT_INT32:
      return ReduceDims<int32_t>(in, axes, count, keepDims, out);
    case ge::DT_INT64:
      return ReduceDims<int64_t>(in, axes, count, keepDims, out);
    default:
      OP_LOGE(context, "axes have dtype %s, want DT_INT32 or DT_INT64",
              ToString(axes->GetDataType()).c_str());
      return ge::GRAPH_FAILED;
  }
}

ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context, size_t inputNum) {
  std::vector<const gert::Shape*> shapes;
  for (size_t i = 0; i < inputNum; ++i) {
    shapes.push_back(context->GetInputShape(i));
    OP_CHECK_NULL_WITH_CONTEXT(context, shapes.back());
  }
  gert::Shape* out = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, out);
  OP_CHECK_IF(!BroadcastShape(shapes, out),
              OP_LOGE(context, "shapes %s do not broadcast", ToString(shapes).c_str()),
              return ge::GRAPH_FAILED);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context) {
  return InferShape4Broadcast(context, 2);
}

}  // namespace Base
}  // namespace Ops
