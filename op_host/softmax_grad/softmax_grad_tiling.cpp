// SPDX-License-Identifier: Apache-2.0
// Tiling of SoftmaxGrad: reads shape, dtype, axis and platform from the context, the rest is
// common/row_reduce_tiling.cpp.
#include "softmax_grad/softmax_grad_tiling.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/row_reduce_tiling.h"
#include "log/log.h"
#include "platform/platform_infos_def.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
namespace {

constexpr size_t kSoftmax = 0;
constexpr size_t kGradSoftmax = 1;
constexpr size_t kAxes = 0;

std::string SocName(fe::PlatFormInfos* platform) {
  std::string name;
  return platform->GetPlatformResWithLock("version", "SoC_version", name) ? name : "this SoC";
}

std::vector<int64_t> Dims(const gert::Shape& shape) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < shape.GetDimNum(); ++i) {
    dims.push_back(shape.GetDim(i));
  }
  return dims;
}

ge::graphStatus SoftmaxGradTiling(gert::TilingContext* context) {
  const gert::StorageShape* softmax = context->GetInputShape(kSoftmax);
  OP_CHECK_NULL_WITH_CONTEXT(context, softmax);
  const gert::StorageShape* grad = context->GetInputShape(kGradSoftmax);
  OP_CHECK_NULL_WITH_CONTEXT(context, grad);
  const gert::CompileTimeTensorDesc* desc = context->GetInputDesc(kSoftmax);
  OP_CHECK_NULL_WITH_CONTEXT(context, desc);
  const gert::CompileTimeTensorDesc* gradDesc = context->GetInputDesc(kGradSoftmax);
  OP_CHECK_NULL_WITH_CONTEXT(context, gradDesc);

  const std::vector<int64_t> dims = Dims(softmax->GetStorageShape());
  if (dims != Dims(grad->GetStorageShape()) || desc->GetDataType() != gradDesc->GetDataType()) {
    OP_LOGE(context, "softmax and grad_softmax differ in shape or dtype, wanted the same of both");
    return ge::GRAPH_FAILED;
  }
  uint32_t elementBytes = 0;
  switch (desc->GetDataType()) {
    case ge::DT_FLOAT:
      elementBytes = 4;
      break;
    case ge::DT_FLOAT16:
    case ge::DT_BF16:
      elementBytes = 2;
      break;
    default:
      OP_LOGE(context, "dtype %d of softmax, wanted FLOAT, FLOAT16 or BF16",
              static_cast<int>(desc->GetDataType()));
      return ge::GRAPH_FAILED;
  }

  int64_t axis = -1;
  const gert::RuntimeAttrs* attrs = context->GetAttrs();
  if (attrs != nullptr && attrs->GetListInt(kAxes) != nullptr) {
    const auto* axes = attrs->GetListInt(kAxes);
    if (axes->GetSize() != 1) {
      OP_LOGE(context, "axes has %zu values, wanted exactly one", axes->GetSize());
      return ge::GRAPH_FAILED;
    }
    axis = axes->GetData()[0];
  }

  fe::PlatFormInfos* platformInfo = context->GetPlatformInfo();
  OP_CHECK_NULL_WITH_CONTEXT(context, platformInfo);
  const platform_ascendc::PlatformAscendC platform(platformInfo);
  SocFacts soc;
  soc.name = SocName(platformInfo);
  soc.cores = platform.GetCoreNumAiv();
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, soc.ubBytes);

  ReduceView view;
  RowReducePlan plan;
  std::string error = MakeReduceView(dims, axis, &view);
  if (error.empty()) {
    error = MakeRowReducePlan("softmax_grad", view, elementBytes, soc, &plan);
  }
  if (!error.empty()) {
    OP_LOGE(context, "%s", error.c_str());
    return ge::GRAPH_FAILED;
  }

  auto* data = context->GetTilingData<SoftmaxGradTilingData>();
  OP_CHECK_NULL_WITH_CONTEXT(context, data);
  FillTiling(plan, data);
  size_t* workspace = context->GetWorkspaceSizes(1);
  OP_CHECK_NULL_WITH_CONTEXT(context, workspace);
  workspace[0] = 0;
  context->SetBlockDim(static_cast<uint32_t>(plan.cores));
  context->SetTilingKey(static_cast<uint64_t>(plan.path));
  return ge::GRAPH_SUCCESS;
}

struct SoftmaxGradCompileInfo {};

ge::graphStatus SoftmaxGradTilingParse(gert::TilingParseContext* context) {
  (void)context;  // everything comes with the tiling context
  return ge::GRAPH_SUCCESS;
}

}  // namespace

IMPL_OP_OPTILING(SoftmaxGrad)
    .Tiling(SoftmaxGradTiling)
    .TilingParse<SoftmaxGradCompileInfo>(SoftmaxGradTilingParse);

}  // namespace optiling

// Prints tiling data as a JSON object. Returns its length without the terminator, or -1 when data
// is not of this operator or does not fit.
extern "C" __attribute__((visibility("default"))) int64_t SoftmaxGradTilingJson(const void* data,
                                                                                uint64_t size,
                                                                                char* json,
                                                                                uint64_t jsonSize) {
  if (data == nullptr || json == nullptr || size != sizeof(SoftmaxGradTilingData)) {
    return -1;
  }
  SoftmaxGradTilingData t;
  std::memcpy(&t, data, sizeof(t));
  const int length = std::snprintf(
      json, jsonSize,
      "{\"outer\":%lld,\"reduce\":%lld,\"inner\":%lld,\"colTiles\":%lld,\"unitsPerCore\":%lld,"
      "\"extraCores\":%d,\"colTile\":%d,\"tileUnits\":%d,\"tileLanes\":%d,\"chunk\":%d,"
      "\"ring\":%d,\"resident\":%d}",
      static_cast<long long>(t.outer), static_cast<long long>(t.reduce),
      static_cast<long long>(t.inner), static_cast<long long>(t.colTiles),
      static_cast<long long>(t.unitsPerCore), t.extraCores, t.colTile, t.tileUnits, t.tileLanes,
      t.chunk, t.ring, t.resident);
  return length < 0 || static_cast<uint64_t>(length) >= jsonSize ? -1 : length;
}
