// SPDX-License-Identifier: Apache-2.0
// This tells how long a kernel's own code runs between two calls of the API, where that is long: scalar code, of which the model of time
// knows nothing. Wall time, which costs little to ask for, tells where to look. What counts is the thread's processor time
// there, which does not depend on what else the host does, but for a hypervisor: what it takes away counts as the thread's.
#pragma once

#include <algorithm>
#include <chrono>

namespace aclsim {

class OwnTime {
 public:
  void Begin();
  // A call of the API begins, or the kernel ends.
  void Enters() {
    if (on_) [[unlikely]] {
      const Clock::time_point now = Clock::now();
      if (now - last_ > kLong) {
        Count(now);
      }
      last_ = now;
    }
  }
  void Leaves() {
    if (on_) [[unlikely]] {
      last_ = Clock::now();
      if (last_ - looked_ > kStale) {
        Look(last_);
      }
    }
  }
  // The longest stretch counts only for what it has beyond a time slice of a hypervisor.
  double Seconds() const {
    return std::chrono::duration<double>(own_ - std::min(longest_, kSlice)).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;
  static constexpr Duration kLong = std::chrono::microseconds(20);
  static constexpr Duration kStale = std::chrono::microseconds(10);
  static constexpr Duration kSlice = std::chrono::milliseconds(10);

  void Count(Clock::time_point now);
  void Look(Clock::time_point now);

  bool on_ = false;
  Duration processor_{};  // of the thread, at looked_
  Clock::time_point looked_, last_;
  Duration own_{}, longest_{};
};

}  // namespace aclsim
