// SPDX-License-Identifier: Apache-2.0
// Reads a tiling context for the element-wise family, and prints its tiling data.
#include "common/tiling_context.h"

#include "common/elementwise_tiling.h"
#include "log/log.h"

namespace optiling {

ge::graphStatus PlanElementwise(gert::TilingContext* context, const char* op, int64_t elements,
                                uint32_t elementBytes, uint32_t inputs, uint64_t key,
                                ElementwiseTilingData* data) {
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  SocFacts soc;
  if (ReadSocFacts(context, &soc) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  ElementwisePlan plan;
  const std::string error = MakeElementwisePlan(op, elements, elementBytes, inputs, soc, &plan);
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }
  *data = plan.data;
  size_t* workspace = context->GetWorkspaceSizes(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
  workspace[0] = 0;
  context->SetBlockDim(static_cast<uint32_t>(plan.cores));
  context->SetTilingKey(key);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileElementwise(gert::TilingContext* context, const char* op,
                                const std::vector<const char*>& inputs,
                                ElementwiseTilingData* data) {
  SameInputs same;
  if (ReadSameInputs(context, inputs, &same) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  return PlanElementwise(context, op, same.shape->GetShapeSize(), same.elementBytes,
                         static_cast<uint32_t>(inputs.size()), ELEMENTWISE_FULL_LOAD, data);
}

std::string JsonFields(const ElementwiseTilingData& data) {
  std::string text;
  ELEMENTWISE_TILING_FIELDS(TILING_FIELD_JSON)
  return text;
}

int64_t ElementwiseTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return TilingJson<ElementwiseTilingData>(
      data, size, json, jsonSize, [](const ElementwiseTilingData& t) { return JsonFields(t); });
}

}  // namespace optiling
