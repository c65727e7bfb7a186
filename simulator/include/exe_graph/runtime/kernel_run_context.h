// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/kernel_context.h.
#ifndef EXE_GRAPH_RUNTIME_KERNEL_RUN_CONTEXT_H_
#define EXE_GRAPH_RUNTIME_KERNEL_RUN_CONTEXT_H_

#include "exe_graph/runtime/kernel_context.h"

#endif  // EXE_GRAPH_RUNTIME_KERNEL_RUN_CONTEXT_H_
