// SPDX-License-Identifier: Apache-2.0
// A tiling function decides by these setters. Each setter keeps where it was called, so that a report about the value can name that line.
#include "exe_graph/runtime/tiling_context.h"

#include <execinfo.h>

#include <array>

namespace gert {
namespace {

// Enough for the caller and the functions of headers between it and this one in unoptimised code.
constexpr size_t kFrames = 6;

__attribute__((noinline)) void KeepCaller(std::vector<void*>* place) {
  std::array<void*, kFrames> stack{};
  const int depth = backtrace(stack.data(), static_cast<int>(stack.size()));
  constexpr int kOwn = 2;  // this function and the setter
  place->assign(stack.begin() + std::min(depth, kOwn), stack.begin() + depth);
}

}  // namespace

ge::graphStatus TilingContext::SetTilingKey(uint64_t tilingKey) {
  state_->tilingKey = tilingKey;
  KeepCaller(&state_->tilingKeySet);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus TilingContext::SetBlockDim(uint32_t blockDim) {
  state_->blockDim = blockDim;
  KeepCaller(&state_->blockDimSet);
  return ge::GRAPH_SUCCESS;
}

ge::graphStatus TilingContext::SetSimdNumBlocks(uint32_t count) {
  state_->blockDim = count;
  KeepCaller(&state_->blockDimSet);
  return ge::GRAPH_SUCCESS;
}

TilingData* TilingContext::GetRawTilingData() {
  KeepCaller(&state_->tilingDataSet);
  return state_->tilingData;
}

size_t* TilingContext::GetWorkspaceSizes(size_t count) {
  KeepCaller(&state_->workspacesSet);
  if (state_->workspaces == nullptr || state_->workspaces->SetSize(count) != ge::GRAPH_SUCCESS) {
    return nullptr;
  }
  return static_cast<size_t*>(state_->workspaces->MutableData());
}

}  // namespace gert
