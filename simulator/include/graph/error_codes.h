// SPDX-License-Identifier: Apache-2.0
// Status of tiling and inference functions.
#pragma once

#include <cstdint>

// CANN's word for its header of these names. PyTorch's NPU backend brings that along, and a source may read both.
#ifndef INC_EXTERNAL_GRAPH_GE_ERROR_CODES_H_
#define INC_EXTERNAL_GRAPH_GE_ERROR_CODES_H_

#define GE_FUNC_HOST_VISIBILITY
#define GE_FUNC_DEV_VISIBILITY
#define ATTRIBUTED_DEPRECATED(replacement)
#define ATTRIBUTED_NOT_SUPPORT()

namespace ge {

using graphStatus = uint32_t;

const graphStatus GRAPH_SUCCESS = 0;
const graphStatus GRAPH_FAILED = 0xFFFFFFFF;
const graphStatus GRAPH_NOT_CHANGED = 1343242304;
const graphStatus GRAPH_PARAM_INVALID = 50331649;
const graphStatus GRAPH_PARAM_OUT_OF_RANGE = 50331644;
const graphStatus GRAPH_NULL_PTR = 50331538;

}  // namespace ge

#endif

namespace ge {

using Status = uint32_t;

const Status SUCCESS = 0;
const Status FAILED = 0xFFFFFFFF;

}  // namespace ge
