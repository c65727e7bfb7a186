// SPDX-License-Identifier: Apache-2.0
// Tiling of SoftmaxCrossEntropyGrad: aclgrad/tiling_context.h chooses the layout and splits the rows.
#include "aclgrad/tiling_context.h"

namespace optiling {
namespace {

ge::graphStatus SoftmaxCrossEntropyGradTiling(gert::TilingContext* context) {
  return TileAlongAxis(context, "softmax_cross_entropy_grad", {"log_softmax", "labels"});
}

}  // namespace

IMPL_OP_OPTILING(SoftmaxCrossEntropyGrad)
    .Tiling(SoftmaxCrossEntropyGradTiling)
    .TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace optiling

// `aclgrad tiling` prints what this returns.
extern "C" __attribute__((visibility("default"))) int64_t
SoftmaxCrossEntropyGradTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return optiling::RowReduceTilingJson(data, size, json, jsonSize);
}
