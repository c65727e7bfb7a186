// SPDX-License-Identifier: Apache-2.0
// How long a kernel's own code runs between two calls of the API, where that is long: scalar code, of which the model of time
// knows nothing. Wall time tells where, and the thread's processor time that it was no other program.
#pragma once

#include <time.h>

#include <chrono>

namespace aclsim {

class OwnTime {
 public:
  void Begin() {
    on_ = true;
    processor_ = Processor();
    begin_ = last_ = Clock::now();
  }
  // A call of the API begins, or the kernel ends.
  void Enters() {
    if (on_) [[unlikely]] {
      const Clock::time_point now = Clock::now();
      if (now - last_ > kLong) {
        long_ += now - last_;
      }
      last_ = now;
    }
  }
  void Leaves() {
    if (on_) [[unlikely]] {
      last_ = Clock::now();
    }
  }
  // Never more than it was: what the thread was held up by counts as time of the API.
  double Seconds() const {
    if (long_ == Clock::duration{}) {
      return 0;
    }
    const std::chrono::duration<double> others = last_ - begin_ - long_;
    const double own = Processor() - processor_ - others.count();
    return own > 0 ? own : 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kLong = std::chrono::microseconds(20);

  static double Processor() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  bool on_ = false;
  double processor_ = 0;
  Clock::time_point begin_, last_;
  Clock::duration long_{};
};

}  // namespace aclsim
