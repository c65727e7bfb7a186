// SPDX-License-Identifier: Apache-2.0
// Call sites: where in the kernel an instruction was issued, cheap to capture and resolved to a line when a report needs it.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "findings/fault.h"

namespace aclsim {

// Return addresses inside the kernel library, innermost first: an unoptimised kernel has the API's own frames in between.
using SiteStack = std::array<void*, 4>;

// Return addresses that were looked up last, and whether they lie in a function of the API. Two of each hash: two call sites of
// one loop that take turns in one place would be looked up again and again.
struct ApiFrame {
  void* address = nullptr;
  bool api = false;
};
using ApiFrames = std::array<std::array<ApiFrame, 2>, 1024>;

// The call sites of one core. Site 0 is "unknown".
class Sites {
 public:
  Sites();
  // Walks the frame pointers up from the caller into code outside of the simulator's library.
  uint32_t Capture();
  SourceLine Resolve(uint32_t site) const;
  std::vector<void*> Stack(uint32_t site) const;

 private:
  struct Hash {
    size_t operator()(const SiteStack& stack) const;
  };
  // The latest stacks, by a hash of their first two addresses: most instructions stand in loops.
  struct Recent {
    SiteStack stack{};
    uint32_t depth = 0;
    uint32_t site = 0;
  };

  std::vector<SiteStack> stacks_;
  std::array<Recent, 64> recent_;
  std::unordered_map<SiteStack, uint32_t, Hash> ids_;
  uintptr_t libraryBegin_ = 0, libraryEnd_ = 0;
  uintptr_t stackEnd_ = 0;
  ApiFrames& apiFrames_;  // of the thread that runs the core
};

}  // namespace aclsim
