// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/storage_shape.h.
#ifndef RUNTIME_STORAGE_SHAPE_H_
#define RUNTIME_STORAGE_SHAPE_H_

#include "exe_graph/runtime/storage_shape.h"

#endif  // RUNTIME_STORAGE_SHAPE_H_
