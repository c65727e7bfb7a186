// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/runtime_attrs.h.
#ifndef RUNTIME_RUNTIME_ATTRS_H_
#define RUNTIME_RUNTIME_ATTRS_H_

#include "exe_graph/runtime/runtime_attrs.h"

#endif  // RUNTIME_RUNTIME_ATTRS_H_
