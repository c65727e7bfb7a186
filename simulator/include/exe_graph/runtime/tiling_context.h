// SPDX-License-Identifier: Apache-2.0
// Context of a tiling function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "exe_graph/runtime/extended_kernel_context.h"
#include "exe_graph/runtime/tiling_data.h"

namespace gert {

class TilingContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  const void* GetCompileInfo() const { return state_->compileInfo; }
  template <typename T>
  const T* GetCompileInfo() const {
    return static_cast<const T*>(GetCompileInfo());
  }
  fe::PlatFormInfos* GetPlatformInfo() const { return state_->platform; }

  const StorageShape* GetInputShape(size_t index) const { return ShapeOf(InputAt(index)); }
  const Tensor* GetInputTensor(size_t index) const { return InputAt(index); }
  const Tensor* GetOptionalInputTensor(size_t irIndex) const { return InputAt(irIndex, 0); }
  const Tensor* GetRequiredInputTensor(size_t irIndex) const { return InputAt(irIndex, 0); }
  const Tensor* GetDynamicInputTensor(size_t irIndex, size_t relativeIndex) const {
    return InputAt(irIndex, relativeIndex);
  }
  const StorageShape* GetOptionalInputShape(size_t irIndex) const {
    return ShapeOf(InputAt(irIndex, 0));
  }
  const StorageShape* GetRequiredInputShape(size_t irIndex) const {
    return ShapeOf(InputAt(irIndex, 0));
  }
  const StorageShape* GetDynamicInputShape(size_t irIndex, size_t relativeIndex) const {
    return ShapeOf(InputAt(irIndex, relativeIndex));
  }
  const StorageShape* GetOutputShape(size_t index) const { return ShapeOf(OutputAt(index)); }

  // Operators that want strides say IgnoreContiguous() in their definition; here every tensor that reaches one is contiguous.
  bool InputIsView(size_t) const { return false; }
  bool OptionalInputIsView(size_t) const { return false; }
  bool DynamicInputIsView(size_t, size_t) const { return false; }
  bool RequiredInputIsView(size_t) const { return false; }
  const Stride* GetInputStride(size_t) const { return nullptr; }
  const Stride* GetOptionalInputStride(size_t) const { return nullptr; }
  const Stride* GetDynamicInputStride(size_t, size_t) const { return nullptr; }
  const Stride* GetRequiredInputStride(size_t) const { return nullptr; }

  ge::graphStatus SetTilingKey(uint64_t tilingKey);
  uint64_t GetTilingKey() const { return state_->tilingKey; }
  ge::graphStatus SetBlockDim(uint32_t blockDim);
  uint32_t GetBlockDim() const { return state_->blockDim; }
  // 9.x name of the block dimension.
  ge::graphStatus SetSimdNumBlocks(uint32_t count);
  uint32_t GetSimdNumBlocks() const { return state_->blockDim; }
  ge::graphStatus SetScheduleMode(uint32_t mode) { return Set(state_->scheduleMode, mode); }
  uint32_t GetScheduleMode() const { return state_->scheduleMode; }
  ge::graphStatus SetLocalMemorySize(uint32_t size) { return Set(state_->localMemorySize, size); }
  uint32_t GetLocalMemorySize() const { return state_->localMemorySize; }
  ge::graphStatus SetTilingCond(int32_t cond) { return Set(state_->tilingCond, cond); }
  int32_t GetTilingCond() const { return state_->tilingCond; }
  ge::graphStatus SetNeedAtomic(bool atomic) { return Set(state_->needAtomic, atomic); }
  bool NeedAtomic() const { return state_->needAtomic; }
  int32_t GetDeterministic() const { return state_->deterministic; }
  int32_t GetDeterministicLevel() const { return state_->deterministicLevel; }

  // nullptr when T is larger than the capacity given to Tiling(func, maxTilingDataSize).
  template <typename T>
  T* GetTilingData() {
    TilingData* data = GetRawTilingData();
    if (data == nullptr || data->GetCapacity() < sizeof(T)) return nullptr;
    data->SetDataSize(sizeof(T));
    return static_cast<T*>(data->GetData());
  }
  TilingData* GetRawTilingData();

  size_t* GetWorkspaceSizes(size_t count);
  size_t GetWorkspaceNum() const {
    return state_->workspaces == nullptr ? 0 : state_->workspaces->GetSize();
  }

 private:
  template <typename T>
  static ge::graphStatus Set(T& field, T value) {
    field = value;
    return ge::GRAPH_SUCCESS;
  }
  static const StorageShape* ShapeOf(const Tensor* tensor) {
    return tensor == nullptr ? nullptr : &tensor->GetShape();
  }
};

}  // namespace gert
