// SPDX-License-Identifier: Apache-2.0
// Shape inference of broadcasting operators.
#pragma once

#include <cstddef>
#include <vector>

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/error_codes.h"

namespace Ops {
namespace Base {

// Output 0 has the broadcast shape of the first inputNum inputs (2 unless given).
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context);
ge::graphStatus InferShape4Broadcast(gert::InferShapeContext* context, size_t inputNum);
// False when two right-aligned dims differ and neither is 1.
bool BroadcastShape(const gert::Shape* a, const gert::Shape* b, gert::Shape* out);
bool BroadcastShape(const std::vector<const gert::Shape*>& shapes, gert::Shape* out);

}  // namespace Base
}  // namespace Ops
