// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/shape.h.
#ifndef RUNTIME_SHAPE_H_
#define RUNTIME_SHAPE_H_

#include "exe_graph/runtime/shape.h"

#endif  // RUNTIME_SHAPE_H_
