// SPDX-License-Identifier: Apache-2.0
#include "host/options.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace aclsim {

namespace {

std::atomic<uint32_t> hostThreads{0};
std::atomic<double> hangLimit{-1};  // -1: not decided yet
std::atomic<double> executeLimit{0};
constexpr double kDefaultHangLimit = 20;

uint32_t DefaultHostThreads() {
  if (const char* text = std::getenv("ACLGRAD_SIM_THREADS")) {
    const long value = std::strtol(text, nullptr, 10);
    if (value > 0) {
      return static_cast<uint32_t>(std::min(value, 1024L));
    }
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return static_cast<uint32_t>(std::max(CPU_COUNT(&set), 1));
  }
  return 1;
}

}  // namespace

uint32_t HostThreadCount() {
  const uint32_t threads = hostThreads;
  return threads != 0 ? threads : DefaultHostThreads();
}

void SetHostThreadCount(uint32_t threads) { hostThreads = threads; }

double HangLimit() {
  double seconds = hangLimit;
  if (seconds < 0) {
    const char* text = std::getenv("ACLGRAD_SIM_HANG_LIMIT");
    char* rest = nullptr;
    seconds = text != nullptr ? std::strtod(text, &rest) : kDefaultHangLimit;
    if (rest == text || !(seconds >= 0)) {
      seconds = kDefaultHangLimit;
    }
    hangLimit = seconds;
  }
  return seconds;
}

void SetHangLimit(double seconds) { hangLimit = seconds; }

double StuckLimit() {
  const double limit = HangLimit();
  const double execute = executeLimit;
  return execute > 0 && (limit == 0 || execute < limit) ? execute : limit;
}

void SetExecuteLimit(double seconds) { executeLimit = seconds; }

}  // namespace aclsim
