// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/tiling_parse_context.h.
#ifndef RUNTIME_TILING_PARSE_CONTEXT_H_
#define RUNTIME_TILING_PARSE_CONTEXT_H_

#include "exe_graph/runtime/tiling_parse_context.h"

#endif  // RUNTIME_TILING_PARSE_CONTEXT_H_
