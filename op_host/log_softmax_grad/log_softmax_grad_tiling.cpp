// SPDX-License-Identifier: Apache-2.0
// Tiling of LogSoftmaxGrad: common/row_reduce_context.cpp does all of it.
#include "common/tiling_context.h"

namespace optiling {
namespace {

ge::graphStatus LogSoftmaxGradTiling(gert::TilingContext* context) {
  return TileAlongAxis(context, "log_softmax_grad", {"grad", "x"});
}

}  // namespace

IMPL_OP_OPTILING(LogSoftmaxGrad)
    .Tiling(LogSoftmaxGradTiling)
    .TilingParse<NoCompileInfo>(ParseNothing);

}  // namespace optiling

extern "C" __attribute__((visibility("default"))) int64_t
LogSoftmaxGradTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize) {
  return optiling::RowReduceTilingJson(data, size, json, jsonSize);
}
