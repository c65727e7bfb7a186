// SPDX-License-Identifier: Apache-2.0
// Tiling of LogSigmoidGrad: common/elementwise_context.cpp does all of it.
#include "common/tiling_context.h"
#include "log/log.h"

namespace optiling {
namespace {

ge::graphStatus LogSigmoidGradTiling(gert::TilingContext* context) {
  return TileElementwise(context, "log_sigmoid_grad", {"grads", "features"},
                         context->GetTilingData<ElementwiseTilingData>());
}

}  // namespace

IMPL_OP_OPTILING(LogSigmoidGrad)
    .Tiling(LogSigmoidGradTiling)
    .TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace optiling

extern "C" __attribute__((visibility("default"))) int64_t
LogSigmoidGradTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return optiling::ElementwiseTilingJson(data, size, json, jsonSize);
}
