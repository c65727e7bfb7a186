// SPDX-License-Identifier: Apache-2.0
// Shape inference that many operators share.
#ifndef OP_COMMON_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H_
#define OP_COMMON_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H_

#include "exe_graph/runtime/infer_shape_context.h"
#include "graph/error_codes.h"

namespace Ops {
namespace Base {

// Output 0 has the shape of input 0.
ge::graphStatus InferShape4Elewise(gert::InferShapeContext* context);

}  // namespace Base
}  // namespace Ops

#endif  // OP_COMMON_OP_HOST_INFERSHAPE_ELEWISE_UTIL_H_
