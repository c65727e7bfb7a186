// SPDX-License-Identifier: Apache-2.0
// Tiling of KlDivLossGrad: reads shapes, dtypes and attributes from the context, the rest is
// common/elementwise_tiling.cpp.
#include "kl_div_loss_grad/kl_div_loss_grad_tiling.h"

#include <string>

#include "common/tiling_context.h"
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace optiling {
namespace {

constexpr size_t kGrad = 0;
constexpr size_t kTarget = 2;
constexpr size_t kReduction = 0;
constexpr size_t kLogTarget = 1;

// Returns c of the formula. Reductions that are not listed count as none.
double Factor(const std::string& reduction, const gert::Shape& shape) {
  if (reduction == "mean") {
    return 1.0 / static_cast<double>(shape.GetShapeSize());
  }
  if (reduction == "batchmean") {
    return shape.GetDimNum() == 0 ? 1.0 : 1.0 / static_cast<double>(shape.GetDim(0));
  }
  return 1.0;
}

// KeyOf returns the tiling key for the element counts of grad and target, 0 when grad has neither
// as many nor one.
uint64_t KeyOf(int64_t grad, int64_t target) {
  if (grad == target) {
    return KL_DIV_GRAD_LIKE_TARGET;
  }
  return grad == 1 ? KL_DIV_GRAD_SCALAR : 0;
}

ge::graphStatus KlDivLossGradTiling(gert::TilingContext* context) {
  const gert::StorageShape* grad = context->GetInputShape(kGrad);
  OP_CHECK_NULL_WITH_CONTEXT(context, grad);
  const gert::StorageShape* target = context->GetInputShape(kTarget);
  OP_CHECK_NULL_WITH_CONTEXT(context, target);
  const gert::CompileTimeTensorDesc* gradDesc = context->GetInputDesc(kGrad);
  OP_CHECK_NULL_WITH_CONTEXT(context, gradDesc);
  const gert::CompileTimeTensorDesc* targetDesc = context->GetInputDesc(kTarget);
  OP_CHECK_NULL_WITH_CONTEXT(context, targetDesc);
  const gert::Shape& shape = target->GetStorageShape();
  const int64_t total = shape.GetShapeSize();
  const int64_t grads = grad->GetStorageShape().GetShapeSize();
  const uint64_t key = KeyOf(grads, total);
  if (key == 0) {
    OP_LOGE(context, "grad has %lld elements, wanted 1 or the %lld of target; broadcast it first",
            static_cast<long long>(grads), static_cast<long long>(total));
    return ge::GRAPH_FAILED;
  }
  if (gradDesc->GetDataType() != targetDesc->GetDataType()) {
    OP_LOGE(context, "grad has dtype %d and target %d, wanted the same of both",
            static_cast<int>(gradDesc->GetDataType()), static_cast<int>(targetDesc->GetDataType()));
    return ge::GRAPH_FAILED;
  }
  const gert::RuntimeAttrs* attrs = context->GetAttrs();
  OP_CHECK_NULL_WITH_CONTEXT(context, attrs);
  const char* reduction = attrs->GetAttrPointer<char>(kReduction);
  const bool* logTarget = attrs->GetAttrPointer<bool>(kLogTarget);

  const uint32_t elementBytes = ElementBytes(context, "target", targetDesc->GetDataType());
  ElementwiseTilingData elements;
  if (elementBytes == 0 || PlanElementwise(context, "kl_div_loss_grad", total, elementBytes,
                                           key == KL_DIV_GRAD_LIKE_TARGET ? 2 : 1, key,
                                           &elements) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  auto* data = context->GetTilingData<KlDivLossGradTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  *data = KlDivLossGradTilingData{};
  data->elements = elements;
  data->scale = static_cast<float>(-Factor(reduction == nullptr ? "mean" : reduction, shape));
  data->logTarget = logTarget != nullptr && *logTarget ? 1 : 0;
  return ge::GRAPH_SUCCESS;
}

}  // namespace

IMPL_OP_OPTILING(KlDivLossGrad)
    .Tiling(KlDivLossGradTiling)
    .TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace optiling

// Prints tiling data as a JSON object. Returns its length without the terminator, or -1 when data
// is not of this operator or does not fit.
extern "C" __attribute__((visibility("default"))) int64_t
KlDivLossGradTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return optiling::TilingJson<KlDivLossGradTilingData>(
      data, size, json, jsonSize, [](const KlDivLossGradTilingData& t) {
        return optiling::JsonFields(t.elements) + "\"scale\":" + optiling::JsonNumber(t.scale) +
               ",\"logTarget\":" + std::to_string(t.logTarget) + ",";
      });
}
