// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/storage_format.h.
#ifndef RUNTIME_STORAGE_FORMAT_H_
#define RUNTIME_STORAGE_FORMAT_H_

#include "exe_graph/runtime/storage_format.h"

#endif  // RUNTIME_STORAGE_FORMAT_H_
