// SPDX-License-Identifier: Apache-2.0
// Tiling of LogSigmoidGrad: reads shape and dtype from the context, the rest is
// common/elementwise_tiling.cpp.
#include "log_sigmoid_grad/log_sigmoid_grad_tiling.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "common/elementwise_tiling.h"
#include "common/platform_facts.h"
#include "log/log.h"
#include "register/op_impl_registry.h"

namespace optiling {
namespace {

constexpr size_t kGrads = 0;
constexpr size_t kFeatures = 1;
constexpr uint32_t kStreamed = 2;

ge::graphStatus LogSigmoidGradTiling(gert::TilingContext* context) {
  const gert::StorageShape* grads = context->GetInputShape(kGrads);
  OP_CHECK_NULL_WITH_CONTEXT(context, grads);
  const gert::StorageShape* features = context->GetInputShape(kFeatures);
  OP_CHECK_NULL_WITH_CONTEXT(context, features);
  const gert::CompileTimeTensorDesc* gradsDesc = context->GetInputDesc(kGrads);
  OP_CHECK_NULL_WITH_CONTEXT(context, gradsDesc);
  const gert::CompileTimeTensorDesc* featuresDesc = context->GetInputDesc(kFeatures);
  OP_CHECK_NULL_WITH_CONTEXT(context, featuresDesc);
  if (grads->GetStorageShape() != features->GetStorageShape() ||
      gradsDesc->GetDataType() != featuresDesc->GetDataType()) {
    OP_LOGE(context, "grads and features differ in shape or dtype, wanted the same of both");
    return ge::GRAPH_FAILED;
  }
  const uint32_t elementBytes = ElementBytes(context, "features", featuresDesc->GetDataType());
  SocFacts soc;
  if (elementBytes == 0 || ReadSocFacts(context, &soc) != ge::GRAPH_SUCCESS) {
    return ge::GRAPH_FAILED;
  }
  ElementwisePlan plan;
  const std::string error =
      MakeElementwisePlan("log_sigmoid_grad", features->GetStorageShape().GetShapeSize(),
                          elementBytes, kStreamed, soc, &plan);
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }
  auto* data = context->GetTilingData<LogSigmoidGradTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  FillTiling(plan, data);
  size_t* workspace = context->GetWorkspaceSizes(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
  workspace[0] = 0;
  context->SetBlockDim(static_cast<uint32_t>(plan.cores));
  context->SetTilingKey(1);
  return ge::GRAPH_SUCCESS;
}

struct LogSigmoidGradCompileInfo {};

ge::graphStatus LogSigmoidGradTilingParse(gert::TilingParseContext* context) {
  (void)context;  // everything comes with the tiling context
  return ge::GRAPH_SUCCESS;
}

}  // namespace

IMPL_OP_OPTILING(LogSigmoidGrad)
    .Tiling(LogSigmoidGradTiling)
    .TilingParse<LogSigmoidGradCompileInfo>(LogSigmoidGradTilingParse);

}  // namespace optiling

// Prints tiling data as a JSON object. Returns its length without the terminator, or -1 when data
// is not of this operator or does not fit.
extern "C" __attribute__((visibility("default"))) int64_t
LogSigmoidGradTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  if (data == nullptr || json == nullptr || size != sizeof(LogSigmoidGradTilingData)) {
    return -1;
  }
  LogSigmoidGradTilingData t;
  std::memcpy(&t, data, sizeof(t));
  const int length =
      std::snprintf(json, jsonSize,
                    "{\"total\":%lld,\"lanesPerCore\":%lld,\"extraCores\":%d,"
                    "\"lineLanes\":%d,\"tileLanes\":%d,\"pastL2\":%d}",
                    static_cast<long long>(t.total), static_cast<long long>(t.lanesPerCore),
                    t.extraCores, t.lineLanes, t.tileLanes, t.pastL2);
  return length < 0 || static_cast<uint64_t>(length) >= jsonSize ? -1 : length;
}
