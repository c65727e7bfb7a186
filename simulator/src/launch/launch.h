// SPDX-License-Identifier: Apache-2.0
// Runs one kernel on the simulated cores. The seam between opbase/runtime (who prepare a launch) and those who run, observe and time
// it, which meet here and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/kernel_launch.h"

namespace aclsim {

struct LaunchResult {
  int32_t status = 0;   // 0, or the aclError that the stream reports (507035 for a kernel fault)
  std::string message;  // the fault report
  bool goesOn = false;  // after faults the outputs were computed all the same, see keep_going.h
  LaunchStats stats;
  std::vector<UnwrittenMemory> unwritten;  // checked mode, of arguments that nobody calls an output
};

// Blocks until every core has finished. Never throws. Cores are spread over the host threads of ACLGRAD_SIM_THREADS.
LaunchResult Launch(const KernelLaunch& launch) noexcept;

// The cores once more, one after the other: nothing is checked, reported or counted.
void RunAgain(const KernelLaunch& launch);

}  // namespace aclsim
