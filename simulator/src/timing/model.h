// SPDX-License-Identifier: Apache-2.0
// When each instruction of each core starts and ends: an event simulation over the tapes of a launch.
#pragma once

#include <vector>

#include "timing/tape.h"

namespace aclsim {

struct Span {
  double start = 0;  // cycles since the launch began on the cores
  double end = 0;
};

struct CoreTimes {
  std::vector<Span> spans;  // by Tape::steps
  double start = 0;         // the scheduler starts one core after the other
  double end = 0;
  std::array<double, kPipes> busy{};  // cycles in which the pipe worked
  std::array<double, kPipes>
      waited{};  // cycles that it stood at a WaitFlag, a barrier or a full queue
};

struct ChipTimes {
  std::vector<CoreTimes> cores;
  double end = 0;
  double memoryBytes = 0;   // that crossed the memory's pins, as the model rounds them
  double memoryCycles = 0;  // that its traffic takes at least
  double l2Bytes = 0;
  double hitBytes = 0;  // reads that L2 served
  double readBytes = 0;
};

// Deterministic: depends on the tapes and the SoC only.
ChipTimes Time(const Soc& soc, const std::vector<Tape>& tapes);

}  // namespace aclsim
