// SPDX-License-Identifier: Apache-2.0
// Shape ranges belong to graph mode, which the simulator does not have; the type exists so that
// registrations compile.
#ifndef EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_
#define EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class InferShapeRangeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
};

}  // namespace gert

#endif  // EXE_GRAPH_RUNTIME_INFER_SHAPE_RANGE_CONTEXT_H_
