// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/continuous_vector.h.
#ifndef RUNTIME_CONTINUOUS_VECTOR_H_
#define RUNTIME_CONTINUOUS_VECTOR_H_

#include "exe_graph/runtime/continuous_vector.h"

#endif  // RUNTIME_CONTINUOUS_VECTOR_H_
