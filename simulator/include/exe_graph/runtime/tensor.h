// SPDX-License-Identifier: Apache-2.0
// Older name of exe_graph/runtime/runtime_tensor.h.
#ifndef EXE_GRAPH_RUNTIME_TENSOR_H_
#define EXE_GRAPH_RUNTIME_TENSOR_H_

#include "exe_graph/runtime/runtime_tensor.h"

#endif  // EXE_GRAPH_RUNTIME_TENSOR_H_
