// SPDX-License-Identifier: Apache-2.0
// Reads a tiling context for the element-wise family, and prints its tiling data.
#include "common/elementwise_context.h"

#include "common/elementwise_tiling.h"
#include "common/platform_facts.h"
#include "log/log.h"

namespace optiling {

ge::graphStatus TileElementwise(gert::TilingContext* context, const char* op,
                                const std::vector<const char*>& inputs,
                                ElementwiseTilingData* data) {
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  const gert::StorageShape* first = context->GetInputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, first);
  const gert::CompileTimeTensorDesc* firstDesc = context->GetInputDesc(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, firstDesc);
  for (size_t i = 1; i < inputs.size(); ++i) {
    const gert::StorageShape* other = context->GetInputShape(i);
    OP_CHECK_NULL_WITH_CONTEXT(context, other);
    const gert::CompileTimeTensorDesc* otherDesc = context->GetInputDesc(i);
    OP_CHECK_NULL_WITH_CONTEXT(context, otherDesc);
    if (first->GetStorageShape() != other->GetStorageShape() ||
        firstDesc->GetDataType() != otherDesc->GetDataType()) {
      OP_LOGE(context, "%s and %s differ in shape or dtype, wanted the same of both", inputs[0],
              inputs[i]);
      return ge::GRAPH_FAILED;
    }
  }
  const uint32_t elementBytes = ElementBytes(context, inputs[0], firstDesc->GetDataType());
  SocFacts soc;
  if (elementBytes == 0 || ReadSocFacts(context, &soc) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  ElementwisePlan plan;
  const std::string error =
      MakeElementwisePlan(op, first->GetStorageShape().GetShapeSize(), elementBytes,
                          static_cast<uint32_t>(inputs.size()), soc, &plan);
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }
  *data = plan.data;
  size_t* workspace = context->GetWorkspaceSizes(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
  workspace[0] = 0;
  context->SetBlockDim(static_cast<uint32_t>(plan.cores));
  context->SetTilingKey(ELEMENTWISE_FULL_LOAD);
  return ge::GRAPH_SUCCESS;
}

std::string JsonFields(const ElementwiseTilingData& data) {
  std::string text;
  ELEMENTWISE_TILING_FIELDS(TILING_FIELD_JSON)
  return text;
}

int64_t ElementwiseTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return TilingJson<ElementwiseTilingData>(data, size, json, jsonSize, JsonFields);
}

}  // namespace optiling
