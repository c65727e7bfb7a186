// SPDX-License-Identifier: Apache-2.0
// What a launch has done to GM, for whoever asks.
#pragma once

#include <cstdint>
#include <vector>

namespace aclsim {

// Bytes of GM that a launch has used, at their backing address.
struct GmTouch {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool write = false;
};

// While it lives, a launch of this thread leaves here what the kernel's own instructions have used. In checked mode.
class TouchedGm {
 public:
  TouchedGm();
  ~TouchedGm();
  TouchedGm(const TouchedGm&) = delete;
  TouchedGm& operator=(const TouchedGm&) = delete;

  static TouchedGm* Current();
  std::vector<GmTouch> ranges;

 private:
  TouchedGm* const outer_;
};

}  // namespace aclsim
