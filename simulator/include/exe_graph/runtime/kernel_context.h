// SPDX-License-Identifier: Apache-2.0
// Base of the context classes.
#ifndef EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H_
#define EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H_

#include "exe_graph/runtime/extended_kernel_context.h"

#endif  // EXE_GRAPH_RUNTIME_KERNEL_CONTEXT_H_
