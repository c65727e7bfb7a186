// SPDX-License-Identifier: Apache-2.0
// This says what a launch has done to GM, for whoever asks.
#pragma once

#include <vector>

#include "engine/kernel_launch.h"

namespace aclsim {

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
