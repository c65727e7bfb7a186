// SPDX-License-Identifier: Apache-2.0
// This finds the instruction that writes where a launch must not: a store through a plain pointer leaves no record.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/kernel_launch.h"

namespace aclsim {

struct Writer {
  uint32_t core = 0;
  std::vector<void*> stack;  // as CaptureStack
};

// Runs the launch again in a child process, where the page of `begin` cannot be written, and says who is the first to change a
// byte from there to `end`. Nothing when that is nobody: what the launch has written may lead it elsewhere.
std::optional<Writer> FindWriter(const KernelLaunch& launch, const uint8_t* begin,
                                 const uint8_t* end);

}  // namespace aclsim
