// SPDX-License-Identifier: Apache-2.0
// Context of a tiling-parse function, which fills an operator's compile info once per SoC.
#pragma once

#include "exe_graph/runtime/extended_kernel_context.h"

namespace gert {

class TilingParseContext : public ExtendedKernelContext {
 public:
  TilingParseContext(OpCallState* state, void* compileInfo)
      : ExtendedKernelContext(state), compile_info_(compileInfo) {}

  const ge::char_t* GetCompiledJson() const { return state_->compiledJson; }
  template <typename T>
  T* GetCompiledInfo() {
    return static_cast<T*>(compile_info_);
  }
  fe::PlatFormInfos* GetPlatformInfo() const { return state_->platform; }

 private:
  void* compile_info_;
};

}  // namespace gert
