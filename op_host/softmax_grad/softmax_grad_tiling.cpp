// SPDX-License-Identifier: Apache-2.0
// Tiling of SoftmaxGrad: common/row_reduce_context.cpp does all of it.
#include "common/tiling_context.h"

namespace optiling {
namespace {

ge::graphStatus SoftmaxGradTiling(gert::TilingContext* context) {
  return TileAlongAxis(context, "softmax_grad", {"softmax", "grad_softmax"});
}

}  // namespace

IMPL_OP_OPTILING(SoftmaxGrad).Tiling(SoftmaxGradTiling).TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace optiling

extern "C" __attribute__((visibility("default"))) int64_t SoftmaxGradTilingJson(const void* data,
                                                                                uint64_t size,
                                                                                char* json,
                                                                                uint64_t jsonSize) {
  return optiling::RowReduceTilingJson(data, size, json, jsonSize);
}
