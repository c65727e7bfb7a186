// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/infer_shape_range_context.h.
#ifndef RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_
#define RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_

#include "exe_graph/runtime/infer_shape_range_context.h"

#endif  // RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_
