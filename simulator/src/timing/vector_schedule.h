// SPDX-License-Identifier: Apache-2.0
// When the instructions of a vector function run: out of a queue, each as soon as its sources and a port are there.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/record.h"
#include "timing/costs.h"

namespace aclsim {

class VectorSchedule : public VectorTimer {
 public:
  explicit VectorSchedule(uint32_t arch);
  void Begin() override;
  int64_t Issue(const char* name, DType dtype, int64_t ready, uint32_t site) override;
  double End() override;
  // Names without a cost, each once, since the last call.
  std::vector<std::string> TakeUnknown() { return std::exchange(unknown_, {}); }
  // The worst of what the function so far has asked for.
  Evidence Ground() const { return ground_; }

 private:
  // One cycle has these taken.
  struct Cycle {
    int64_t at = -1;
    uint8_t started = 0;   // by port, a bit each
    uint8_t slow = 0;      // ports whose slow unit is taken
    uint8_t accesses = 0;  // of UB
    uint8_t writes = 0;
    uint8_t dispatched = 0;
  };
  static constexpr size_t kCycles = 4096;

  Cycle& At(int64_t cycle);
  // The port, or -1.
  int FreePort(int64_t cycle, const RegisterCost& cost, int64_t initiation);
  int64_t StartOf(const RegisterCost& cost, int64_t initiation, int64_t earliest);
  const RegisterCost& CostOf(const char* name);

  const uint32_t arch_;
  const FunctionTimes& times_;
  std::unordered_map<const char*, RegisterCost> known_;
  std::vector<std::string> unknown_;
  Evidence ground_ = Evidence::kOfficial;
  std::array<Cycle, kCycles> cycles_;
  std::vector<int64_t>
      retirements_;  // of the last instructions, as many as are under way at a time: done
  size_t issued_ = 0;
  std::unordered_map<uint32_t, size_t> places_;  // of the function, in the order of their first run
  size_t place_ = 0;                             // of the last instruction
  size_t loop_ = SIZE_MAX;                       // where the loop begins that has turned last
  double turns_ = 0;                             // cycles that turns of its loops have taken so far
  int64_t retired_ = 0;                          // all instructions so far are done
  int64_t barrier_ = 0;                          // loads and stores begin no earlier
  int64_t memory_ = 0;                           // those so far are done
  int64_t end_ = 0;
};

}  // namespace aclsim
