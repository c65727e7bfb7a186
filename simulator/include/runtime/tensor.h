// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/tensor.h.
#ifndef RUNTIME_TENSOR_H_
#define RUNTIME_TENSOR_H_

#include "exe_graph/runtime/tensor.h"

#endif  // RUNTIME_TENSOR_H_
