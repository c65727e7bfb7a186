// SPDX-License-Identifier: Apache-2.0
// When each instruction of each core starts and ends: an event simulation over the tapes of a launch.
#pragma once

#include <memory>
#include <vector>

#include "timing/tape.h"

namespace aclsim {

struct Span {
  double start = 0;  // cycles since the launch began on the cores
  double end = 0;
};

struct CoreTimes {
  double turns = 0;         // cycles in which its copies waited for a line
  double blocks = 0;        // and those by which blocks of UB made them longer
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
  double writeBackCycles = 0;  // of those of memory, what is fitted: lines that L2 writes back
  double hitBytes = 0;         // reads that L2 served
  double readBytes = 0;
};

// The model has these costs beside those of the tapes.
struct ModelCosts {
  CopyLaw law;
  ChipCosts chip;
  ScalarCosts scalar;
};
ModelCosts ModelCostsOf(const Soc& soc);

// Deterministic: depends on the tapes and the costs only.
ChipTimes Time(const std::vector<Tape>& tapes, const ModelCosts& costs);

// The scalar pipe of a core whose tape still grows, as if the core were alone on the chip: what others do is not known yet.
class CoreClock {
 public:
  CoreClock(const Tape& tape, const ModelCosts& costs);
  ~CoreClock();
  CoreClock(const CoreClock&) = delete;
  CoreClock& operator=(const CoreClock&) = delete;
  double Now();  // cycles since the core began

 private:
  class Model;
  std::unique_ptr<Model> model_;
};

}  // namespace aclsim
