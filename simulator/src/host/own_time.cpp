// SPDX-License-Identifier: Apache-2.0
#include "host/own_time.h"

#include <time.h>

namespace aclsim {

namespace {

// A thread that has to stand aside pays for it when it goes on: some 30 us on a busy host, 110 at most in what was seen.
constexpr std::chrono::microseconds kAside{200};

// Less than that may be the host's own. Sanitizers have work there too, on each page that is touched for the first time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::microseconds kLeast{2000};
#else
constexpr std::chrono::microseconds kLeast{20};
#endif

}  // namespace

void OwnTime::Begin() {
  on_ = true;
  last_ = Clock::now();
  Look(last_);
}

// Adds what has passed since the last call ended, and never more than it was.
void OwnTime::Count(Clock::time_point now) {
  // From the last look to the end of the call, all was the call's.
  const Duration before = processor_ + (last_ - looked_);
  Look(now);
  Duration own = processor_ - before;
  const bool stoodAside = now - last_ > own + kStale;
  own -= stoodAside ? kAside : Duration{};
  if (own > kLeast) {
    own_ += own;
    longest_ = std::max(longest_, own);
  }
}

void OwnTime::Look(Clock::time_point now) {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  processor_ = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  looked_ = now;
}

}  // namespace aclsim
