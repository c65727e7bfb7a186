// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/infer_datatype_context.h.
#ifndef RUNTIME_INFER_DATATYPE_CONTEXT_H_
#define RUNTIME_INFER_DATATYPE_CONTEXT_H_

#include "exe_graph/runtime/infer_datatype_context.h"

#endif  // RUNTIME_INFER_DATATYPE_CONTEXT_H_
