// SPDX-License-Identifier: Apache-2.0
// Contexts of tiling and of shape and dtype inference have this base in common.
#pragma once

#include <utility>
#include <vector>

#include "exe_graph/runtime/compute_node_info.h"
#include "exe_graph/runtime/range.h"
#include "exe_graph/runtime/runtime_tensor.h"

namespace fe {
class PlatFormInfos;
}

namespace gert {

class TilingData;

// Not part of CANN: the state behind every context, owned by the simulator for the time of one
// call.
struct OpCallState {
  ComputeNodeInfo node;
  std::vector<Tensor> inputs;   // by instance, like node.inputs
  std::vector<Tensor> outputs;  // inference writes their shape and dtype
  const void* compileInfo = nullptr;
  fe::PlatFormInfos* platform = nullptr;
  const ge::char_t* compiledJson = "{}";
  // Every operator here is deterministic, so nobody needs to be asked to be.
  int32_t deterministic = 0;
  int32_t deterministicLevel = 0;
  // These belong to graph mode, which the simulator does not have: only what unit tests put there.
  std::vector<Range<Tensor>> inputRanges;
  std::vector<Range<Shape>> inputShapeRanges;
  std::vector<Range<Shape>> outputShapeRanges;
  // Results of tiling.
  TilingData* tilingData = nullptr;
  ContinuousVector* workspaces = nullptr;  // of size_t
  uint64_t tilingKey = 0;
  uint32_t blockDim = 0;
  uint32_t scheduleMode = 0;
  uint32_t localMemorySize = 0;
  int32_t tilingCond = 0;
  bool needAtomic = false;
  // These are the places where the tiling function set them: return addresses, innermost first, for reports.
  std::vector<void*> tilingKeySet, blockDimSet, workspacesSet, tilingDataSet;
};

class KernelContext {
 public:
  explicit KernelContext(OpCallState* state) : state_(state) {}

 protected:
  OpCallState* state_;
};

class ExtendedKernelContext : public KernelContext {
 public:
  using KernelContext::KernelContext;

  const CompileTimeTensorDesc* GetInputDesc(size_t index) const {
    return state_->node.GetInputTdInfo(index);
  }
  const CompileTimeTensorDesc* GetOutputDesc(size_t index) const {
    return state_->node.GetOutputTdInfo(index);
  }
  const CompileTimeTensorDesc* GetOptionalInputDesc(size_t irIndex) const {
    return GetDynamicInputDesc(irIndex, 0);
  }
  const CompileTimeTensorDesc* GetRequiredInputDesc(size_t irIndex) const {
    return GetDynamicInputDesc(irIndex, 0);
  }
  const CompileTimeTensorDesc* GetDynamicInputDesc(size_t irIndex, size_t relativeIndex) const {
    size_t index = 0;
    return InputIndex(irIndex, relativeIndex, &index) ? GetInputDesc(index) : nullptr;
  }
  const AnchorInstanceInfo* GetIrInputInstanceInfo(size_t irIndex) const {
    return state_->node.GetInputInstanceInfo(irIndex);
  }
  const AnchorInstanceInfo* GetIrOutputInstanceInfo(size_t irIndex) const {
    return state_->node.GetOutputInstanceInfo(irIndex);
  }
  size_t GetComputeNodeInputNum() const { return state_->node.GetInputsNum(); }
  size_t GetComputeNodeOutputNum() const { return state_->node.GetOutputsNum(); }
  const RuntimeAttrs* GetAttrs() const { return &state_->node.attrs; }
  const ge::char_t* GetNodeType() const { return state_->node.GetNodeType(); }
  const ge::char_t* GetNodeName() const { return state_->node.GetNodeName(); }
  const ComputeNodeInfo* GetComputeNodeInfo() const { return &state_->node; }

 protected:
  const Tensor* InputAt(size_t index) const {
    return state_->node.Input(std::as_const(state_->inputs), index);
  }
  Tensor* OutputAt(size_t index) const { return state_->node.Output(state_->outputs, index); }
  const Tensor* InputAt(size_t irIndex, size_t relativeIndex) const {
    size_t index = 0;
    return InputIndex(irIndex, relativeIndex, &index) ? InputAt(index) : nullptr;
  }

 private:
  bool InputIndex(size_t irIndex, size_t relativeIndex, size_t* index) const {
    const AnchorInstanceInfo* info = GetIrInputInstanceInfo(irIndex);
    if (info == nullptr || relativeIndex >= info->GetInstanceNum()) return false;
    *index = info->GetInstanceStart() + relativeIndex;
    return true;
  }
};

}  // namespace gert
