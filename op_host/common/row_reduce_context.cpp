// SPDX-License-Identifier: Apache-2.0
// Reads a tiling context for the row-reduction family, and prints its tiling data.
#include "common/tiling_context.h"

#include "log/log.h"

namespace optiling {
namespace {

// TilingChoicesJson prints the choices of this thread's last tiling.
thread_local std::vector<LayoutChoice> lastChoices;

constexpr size_t kAxes = 0;
constexpr uint32_t kBatchMode = 1;  // all cores start together: they wait for each other

ge::graphStatus ReadAxis(gert::TilingContext* context, int64_t* axis) {
  *axis = -1;
  const gert::RuntimeAttrs* attrs = context->GetAttrs();
  if (attrs == nullptr || attrs->GetListInt(kAxes) == nullptr) {
    return ge::GRAPH_SUCCESS;
  }
  const auto* axes = attrs->GetListInt(kAxes);
  if (axes->GetSize() != 1) {
    OP_LOGE(context, "the axis attribute has %zu values, wanted exactly one", axes->GetSize());
    return ge::GRAPH_FAILED;
  }
  *axis = axes->GetData()[0];
  return ge::GRAPH_SUCCESS;
}

}  // namespace

std::vector<int64_t> Dims(const gert::Shape& shape) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    dims.push_back(shape.GetDim(i));
  }
  return dims;
}

ge::graphStatus PlanRowReduce(gert::TilingContext* context, const char* op, const ReduceView& view,
                              uint32_t elementBytes, RowInputs inputs, RowReducePlan* plan) {
  SocFacts soc;
  if (ReadSocFacts(context, &soc) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  const std::string error = MakeRowReducePlan(op, view, elementBytes, soc, plan, inputs);
  lastChoices = plan->choices;
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }
  size_t* workspace = context->GetWorkspaceSizes(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
  workspace[0] = plan->workspaceBytes == 0 ? 0 : soc.systemWorkspace + plan->workspaceBytes;
  if (plan->data.pieces > 1) {
    context->SetScheduleMode(kBatchMode);
  }
  context->SetBlockDim(static_cast<uint32_t>(plan->cores));
  context->SetTilingKey(plan->key);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus TileAlongAxis(gert::TilingContext* context, const char* op,
                              const char* const (&names)[2]) {
  SameInputs inputs;
  int64_t axis = -1;
  if (ReadSameInputs(context, {names[0], names[1]}, &inputs) != ge::GRAPH_SUCCESS ||
      ReadAxis(context, &axis) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  ReduceView view;
  const std::string error = MakeReduceView(Dims(*inputs.shape), axis, &view);
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }
  RowReducePlan plan;
  if (PlanRowReduce(context, op, view, inputs.elementBytes, RowInputs::kPair, &plan) !=
      ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  auto* data = context->GetTilingData<RowReduceTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  *data = plan.data;
  return ge::GRAPH_SUCCESS;
}

std::string JsonFields(const RowReduceTilingData& data) {
  std::string text;
  ROW_REDUCE_TILING_FIELDS(TILING_FIELD_JSON)
  return text;
}

int64_t RowReduceTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return TilingJson<RowReduceTilingData>(
      data, size, json, jsonSize, [](const RowReduceTilingData& t) { return JsonFields(t); });
}

}  // namespace optiling

// TilingChoicesJson returns what `aclgrad tiling --why` prints: the layouts that were asked in
// turn, the last of which was taken.
extern "C" __attribute__((visibility("default"))) int64_t TilingChoicesJson(char* json,
                                                                            uint64_t jsonSize) {
  std::string text;
  for (const optiling::LayoutChoice& choice : optiling::lastChoices) {
    text += std::string(text.empty() ? "" : ",") + "{\"layout\":\"" + choice.layout +
            "\",\"taken\":" + (choice.taken ? "true" : "false") + ",\"when\":\"" + choice.why +
            "\"}";
  }
  optiling::lastChoices.clear();
  return text.empty() ? 0 : optiling::PutJson("[" + text + "]", json, jsonSize);
}
