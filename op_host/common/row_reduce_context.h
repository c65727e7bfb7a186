// SPDX-License-Identifier: Apache-2.0
// These functions are the part of a tiling function that all row reductions share: they read the
// tiling context, call the pure function of row_reduce_tiling.h and write the plan back.
#ifndef OP_HOST_COMMON_ROW_REDUCE_CONTEXT_H_
#define OP_HOST_COMMON_ROW_REDUCE_CONTEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/row_reduce_data.h"
#include "common/row_reduce_tiling.h"
#include "common/tiling_context.h"
#include "register/op_impl_registry.h"

namespace optiling {

// Both report what is wrong before they fail. PlanRowReduce plans for the SoC of the context and sets block dim, tiling key and
// workspace there.
ge::graphStatus PlanRowReduce(gert::TilingContext* context, const char* op, const ReduceView& view,
                              uint32_t elementBytes, RowInputs inputs, RowReducePlan* plan);
// TileAlongAxis does all for an operator whose first two inputs have one shape and dtype, and whose only attribute is the
// axis, as a list of one.
ge::graphStatus TileAlongAxis(gert::TilingContext* context, const char* op,
                              const char* const (&names)[2]);

std::vector<int64_t> Dims(const gert::Shape& shape);

// Returns the fields as JSON: "outer":1, ... "workspaceUnits":0,
std::string JsonFields(const RowReduceTilingData& data);
// Prints tiling data as a JSON object: what <OpType>TilingJson returns.
int64_t RowReduceTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize);

}  // namespace optiling

#endif  // OP_HOST_COMMON_ROW_REDUCE_CONTEXT_H_
