// SPDX-License-Identifier: Apache-2.0
// One line on a terminal for a launch that takes more than two seconds: rewritten while it gets on, gone when it ends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "engine/kernel_launch.h"

namespace aclsim {

// Says whether a launch that takes long says on the error stream how far it is: else if that is a terminal. ACLGRAD_SIM_PROGRESS.
enum class Shows : uint8_t { kNever, kAlways, kOnTerminal };
Shows ShowsProgress();
void SetShowsProgress(Shows when);

class LaunchLine {
 public:
  explicit LaunchLine(const KernelLaunch& launch);
  ~LaunchLine();
  LaunchLine(const LaunchLine&) = delete;
  LaunchLine& operator=(const LaunchLine&) = delete;

  void CoreEnded() { ended_.fetch_add(1, std::memory_order_relaxed); }

  // A few times a second while kernels run; moved: GM bytes that all host threads have copied so far.
  static void Tick(uint64_t moved);

 private:
  std::string Text(uint64_t moved, double seconds) const;

  const KernelLaunch& launch_;
  const bool wanted_;
  const std::chrono::steady_clock::time_point begin_;
  const uint64_t movedBefore_;
  std::atomic<uint32_t> ended_{0};
};

}  // namespace aclsim
