// SPDX-License-Identifier: Apache-2.0
// Other path of exe_graph/runtime/compute_node_info.h.
#ifndef RUNTIME_COMPUTE_NODE_INFO_H_
#define RUNTIME_COMPUTE_NODE_INFO_H_

#include "exe_graph/runtime/compute_node_info.h"

#endif  // RUNTIME_COMPUTE_NODE_INFO_H_
