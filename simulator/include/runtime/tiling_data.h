// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/tiling_data.h.
#ifndef RUNTIME_TILING_DATA_H_
#define RUNTIME_TILING_DATA_H_

#include "exe_graph/runtime/tiling_data.h"

#endif  // RUNTIME_TILING_DATA_H_
