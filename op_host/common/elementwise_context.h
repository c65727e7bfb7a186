// SPDX-License-Identifier: Apache-2.0
// This file declares the tiling function of the element-wise family. It reads the tiling context,
// calls the pure function of elementwise_tiling.h and writes the plan back.
#ifndef OP_HOST_COMMON_ELEMENTWISE_CONTEXT_H_
#define OP_HOST_COMMON_ELEMENTWISE_CONTEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/elementwise_data.h"
#include "common/tiling_context.h"
#include "register/op_impl_registry.h"

namespace optiling {

// PlanElementwise plans for the SoC of the context. It sets block dim, tiling key and an empty
// workspace, and fills `data`, which may be part of the operator's own struct. The kernel reads
// `inputs` tensors. It reports what is wrong before it fails.
ge::graphStatus PlanElementwise(gert::TilingContext* context, const char* op, int64_t elements,
                                uint32_t elementBytes, uint32_t inputs, uint64_t key,
                                ElementwiseTilingData* data);
// TileElementwise is PlanElementwise for inputs of one shape and one dtype, named in their order,
// with the key ELEMENTWISE_FULL_LOAD.
ge::graphStatus TileElementwise(gert::TilingContext* context, const char* op,
                                const std::vector<const char*>& inputs,
                                ElementwiseTilingData* data);

// Returns the fields as JSON: "total":1, ... "resultsBypassL2":0,
std::string JsonFields(const ElementwiseTilingData& data);
// Prints tiling data as a JSON object: what <OpType>TilingJson returns.
int64_t ElementwiseTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize);

}  // namespace optiling

#endif  // OP_HOST_COMMON_ELEMENTWISE_CONTEXT_H_
