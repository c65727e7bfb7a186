// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/tensor_data.h.
#ifndef RUNTIME_TENSOR_DATA_H_
#define RUNTIME_TENSOR_DATA_H_

#include "exe_graph/runtime/tensor_data.h"

#endif  // RUNTIME_TENSOR_DATA_H_
