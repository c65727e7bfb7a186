// SPDX-License-Identifier: Apache-2.0
// Memory between the AIVs and AICs of a launch that its kernel does not know of. Ascend 950 has ways from core to core that leave out GM;
// what the simulator brings by copies to and from GM takes this memory there.
#pragma once

#include <cstdint>

#include "engine/kernel_launch.h"

namespace aclsim {

// It has no content and counts as undefined at first.
class Exchange {
 public:
  explicit Exchange(uint64_t bytes);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const GmRegion& Region() const { return region_; }
  bool Holds(const void* addr) const {
    const auto* const at = static_cast<const uint8_t*>(addr);
    return at >= region_.addr && at < region_.addr + region_.bytes;
  }

 private:
  GmRegion region_;
};

}  // namespace aclsim
