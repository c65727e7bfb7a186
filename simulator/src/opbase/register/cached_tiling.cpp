// SPDX-License-Identifier: Apache-2.0
// Tiling functions of matrix products that CANN has in its libraries alone: operators declare them and call them when their compile
// information is parsed. They make a cache ready that nothing here has, so they have nothing to do. Functions that compute a
// tiling from it (GenTiling) are absent: an operator that calls one is told so by its name.
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"

namespace optiling {

bool TilingPrepareForOpCache(gert::TilingContext* context);
bool TilingPrepareForOpCache(gert::TilingParseContext* context);

bool TilingPrepareForOpCache(gert::TilingContext*) { return true; }
bool TilingPrepareForOpCache(gert::TilingParseContext*) { return true; }

}  // namespace optiling
