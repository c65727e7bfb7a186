// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/base_type.h.
#ifndef RUNTIME_BASE_TYPE_H_
#define RUNTIME_BASE_TYPE_H_

#include "exe_graph/runtime/base_type.h"

#endif  // RUNTIME_BASE_TYPE_H_
