// SPDX-License-Identifier: Apache-2.0
// Tiling of ScaledMaskedSoftmaxGradV2: common/row_reduce_context.cpp plans whole rows, and
// row_mask_tiling.h the mask row of each.
#include "scaled_masked_softmax_grad_v2/scaled_masked_softmax_grad_v2_tiling.h"

#include <string>

#include "common/tiling_context.h"
#include "log/log.h"
#include "scaled_masked_softmax_grad_v2/row_mask_tiling.h"

namespace optiling {
namespace {

constexpr size_t kMask = 2;
constexpr size_t kScale = 0;
constexpr size_t kFixedTriuMask = 1;

ge::graphStatus ReadAttrs(gert::TilingContext* context, float* scale) {
  const gert::RuntimeAttrs* attrs = context->GetAttrs();
  if (attrs == nullptr) {
    return ge::GRAPH_SUCCESS;
  }
  const float* given = attrs->GetAttrPointer<float>(kScale);
  *scale = given == nullptr ? *scale : *given;
  const bool* fixedTriuMask = attrs->GetAttrPointer<bool>(kFixedTriuMask);
  if (fixedTriuMask != nullptr && *fixedTriuMask) {
    OP_LOGE(context, "fixed_triu_mask is true, wanted false; pass the triangle as mask");
    return ge::GRAPH_FAILED;
  }
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus ScaledMaskedSoftmaxGradV2Tiling(gert::TilingContext* context) {
  SameInputs inputs;
  float scale = 1.0F;
  if (ReadSameInputs(context, {"yGrad", "y"}, &inputs) != ge::GRAPH_SUCCESS ||
      ReadAttrs(context, &scale) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  const gert::StorageShape* mask = context->GetOptionalInputShape(kMask);
  if (mask == nullptr) {
    OP_LOGE(context, "mask is absent, wanted a BOOL tensor");
    return ge::GRAPH_FAILED;
  }
  const std::vector<int64_t> dims = Dims(*inputs.shape);
  ReduceView view;
  std::string error = MakeReduceView(dims, -1, &view);
  RowMaskTilingData rowMask{};
  if (error.empty()) {
    error = MakeRowMask(dims, Dims(mask->GetStorageShape()), &rowMask);
  }
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }
  const RowInputs rowInputs =
      rowMask.run >= kMaskRun ? RowInputs::kPairAndMaskRuns : RowInputs::kPairAndMask;
  RowReducePlan plan;
  if (PlanRowReduce(context, "scaled_masked_softmax_grad_v2", view, inputs.elementBytes, rowInputs,
                    &plan) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  auto* data = context->GetTilingData<ScaledMaskedSoftmaxGradV2TilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  *data = ScaledMaskedSoftmaxGradV2TilingData{};
  data->rows = plan.data;
  data->mask = rowMask;
  data->scale = scale;
  return ge::GRAPH_SUCCESS;
}

}  // namespace

IMPL_OP_OPTILING(ScaledMaskedSoftmaxGradV2)
    .Tiling(ScaledMaskedSoftmaxGradV2Tiling)
    .TilingParse<NoCompileInfo>(ParseNothing);
IMPL_OP_OPTILING(ScaledMaskedSoftmaxGrad)
    .Tiling(ScaledMaskedSoftmaxGradV2Tiling)
    .TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace optiling

// Prints tiling data as a JSON object. Returns its length without the terminator, or -1 when data
// is not of this operator or does not fit.
extern "C" __attribute__((visibility("default"))) int64_t ScaledMaskedSoftmaxGradV2TilingJson(
    const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return optiling::TilingJson<ScaledMaskedSoftmaxGradV2TilingData>(
      data, size, json, jsonSize, [](const ScaledMaskedSoftmaxGradV2TilingData& t) {
        return optiling::JsonFields(t.rows) + "\"maskRun\":" + std::to_string(t.mask.run) +
               ",\"maskPeriod\":" + std::to_string(t.mask.period) +
               ",\"maskStep\":" + std::to_string(t.mask.step) +
               ",\"maskRows\":" + std::to_string(t.mask.rows) +
               ",\"scale\":" + optiling::JsonNumber(t.scale) + ",";
      });
}
