// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/extended_kernel_context.h.
#ifndef RUNTIME_EXTENDED_KERNEL_CONTEXT_H_
#define RUNTIME_EXTENDED_KERNEL_CONTEXT_H_

#include "exe_graph/runtime/extended_kernel_context.h"

#endif  // RUNTIME_EXTENDED_KERNEL_CONTEXT_H_
