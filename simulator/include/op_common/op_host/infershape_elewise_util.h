// SPDX-License-Identifier: Apache-2.0
// Shape inference that many operators share.
#pragma once

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/error_codes.h"

namespace Ops {
namespace Base {

// Output 0 has the shape of input 0.
ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context);

}  // namespace Base
}  // namespace Ops
