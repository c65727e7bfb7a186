// SPDX-License-Identifier: Apache-2.0
// Older name of graph/error_codes.h.
#ifndef GRAPH_GE_ERROR_CODES_H_
#define GRAPH_GE_ERROR_CODES_H_

#include "graph/error_codes.h"

#endif  // GRAPH_GE_ERROR_CODES_H_
