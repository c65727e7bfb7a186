// SPDX-License-Identifier: Apache-2.0
// The tiling function of the element-wise family: from the tiling context to the pure function of
// elementwise_tiling.h and back.
#ifndef OP_HOST_COMMON_ELEMENTWISE_CONTEXT_H_
#define OP_HOST_COMMON_ELEMENTWISE_CONTEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/elementwise_data.h"
#include "common/tiling_function.h"
#include "register/op_impl_registry.h"

namespace optiling {

// Plans for the SoC of the context. Sets block dim, tiling key and a workspace of nothing, and fills data, which may be a part
// of the operator's own struct. `inputs`: how many tensors the kernel reads. Reports what is wrong before it fails.
ge::graphStatus PlanElementwise(gert::TilingContext* context, const char* op, int64_t elements,
                                uint32_t elementBytes, uint32_t inputs, uint64_t key,
                                ElementwiseTilingData* data);
// The same for an operator whose inputs, named in their order, have one shape and one dtype, with the key ELEMENTWISE_FULL_LOAD.
ge::graphStatus TileElementwise(gert::TilingContext* context, const char* op,
                                const std::vector<const char*>& inputs,
                                ElementwiseTilingData* data);

// "total":1, ... "resultsPastL2":0,
std::string JsonFields(const ElementwiseTilingData& data);
// Prints tiling data as a JSON object: what <OpType>TilingJson returns.
int64_t ElementwiseTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize);

}  // namespace optiling

#endif  // OP_HOST_COMMON_ELEMENTWISE_CONTEXT_H_
