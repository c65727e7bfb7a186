// SPDX-License-Identifier: Apache-2.0
// Shape inference of reductions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exe_graph/runtime/infer_shape_context.h"
#include "op_common/log/log.h"
#include "op_common/op_host/util/opbase_export.h"
#include "util/shape_util.h"

namespace Ops {
namespace Base {

// The shape after reducing the axes (negative ones count from the end); kept axes become 1.
template <typename T>
ge::graphStatus ReduceShape(const gert::Shape& in, const T* axes, int32_t count, bool keepDims,
                            gert::Shape* out) {
  if (IsUnknownRank(in)) {
    SetUnknownRank(*out);
    return ge::GRAPH_SUCCESS;
  }
  const int64_t rank = static_cast<int64_t>(in.GetDimNum());
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int32_t i = 0; i < count; ++i) {
    const int64_t axis = static_cast<int64_t>(axes[i]);
    if (!CheckAxisBounds(std::max<int64_t>(rank, 1), axis)) {
      OP_LOGE("reduce", "axis %ld is outside rank %ld", axis, rank);
      return ge::GRAPH_FAILED;
    }
    if (rank > 0) reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  gert::Shape result;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      result.AppendDim(in.GetDim(i));
    } else if (keepDims) {
      result.AppendDim(1);
    }
  }
  *out = result;
  return ge::GRAPH_SUCCESS;
}
template <typename T>
ge::graphStatus ReduceDimsWithKeepDims(const gert::Shape* xShape, const T* axesDims,
                                       int32_t axesSize, gert::Shape* outputShape) {
  return ReduceShape(*xShape, axesDims, axesSize, true, outputShape);
}
template <typename T>
ge::graphStatus ReduceDimsWithoutKeepDims(const gert::Shape* xShape, const T* axesDims,
                                          int32_t axesSize, gert::Shape* outputShape) {
  return ReduceShape(*xShape, axesDims, axesSize, false, outputShape);
}
template <typename T>
ge::graphStatus ReduceDims(const gert::Shape* xShape, const gert::Tensor* axesTensor,
                           int32_t axesSize, const bool keepDims, gert::Shape* outputShape) {
  const T* axes = axesTensor->GetData<T>();
  if (axes == nullptr && axesSize > 0) return ge::GRAPH_FAILED;
  return ReduceShape(*xShape, axes, axesSize, keepDims, outputShape);
}

// Input 0 reduced over the axes in input 1; attribute 0 is keep_dims.
OPBASE_API ge::graphStatus InferShape4Reduce(gert::InferShapeContext* context);

}  // namespace Base
}  // namespace Ops
