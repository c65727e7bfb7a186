// SPDX-License-Identifier: Apache-2.0
// Launches add up here: aclsimGetStats, aclsimLaunchesOf, aclsimLaunched.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "aclsim/framework.h"
#include "engine/options.h"
#include "host/fork.h"
#include "host/lock.h"
#include "runtime/errors.h"
#include "runtime/misuse.h"
#include "runtime/runtime.h"

namespace aclsim {

namespace {

struct Counters {
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> gmReadBytes{0};
  std::atomic<uint64_t> gmWriteBytes{0};
  std::atomic<uint64_t> instructions{0};
  std::atomic<uint64_t> ubPeakBytes{0};
  std::atomic<uint64_t> kernelNanos{0};
  std::atomic<uint32_t> blockDim{0};
};
Counters counters;

struct Count {
  uint64_t launches = 0;
  uint64_t checked = 0;
  uint64_t failed = 0;
};

struct Counts {
  Mutex<9, "statistics"> mutex;
  std::map<std::string, Count> byKernel;
};

PerProcess<Counts> counts;

void CountLaunch(const std::string& kernel, bool failed) {
  const std::lock_guard lock(counts->mutex);
  Count& count = counts->byKernel[kernel];
  count.launches += 1;
  count.checked += CheckedMode() ? 1 : 0;
  count.failed += failed ? 1 : 0;
}

std::string LaunchedJson() {
  const std::lock_guard lock(counts->mutex);
  std::string json = "[";
  for (const auto& [kernel, count] : counts->byKernel) {
    json += Format("%s{\"kernel\":%s,\"launches\":%llu,\"checked\":%llu,\"failed\":%llu}",
                   json.size() > 1 ? ",\n" : "", JsonQuoted(kernel).c_str(),
                   static_cast<unsigned long long>(count.launches),
                   static_cast<unsigned long long>(count.checked),
                   static_cast<unsigned long long>(count.failed));
  }
  return json + "]";
}

}  // namespace

LaunchResult LaunchCounted(const KernelLaunch& launch) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  LaunchResult result = Launch(launch);
  if (CheckedMode()) {
    AdoptPointerWrites(launch);
    CheckGuardsAfter(launch, &result);
    KeepUnwritten(launch, std::move(result.unwritten));
  }
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::steady_clock::now() - begin);
  counters.launches += 1;
  try {
    CountLaunch(launch.opType, result.status != 0);
  } catch (const std::exception&) {  // no memory to count in
  }
  counters.gmReadBytes += result.stats.gmReadBytes;
  counters.gmWriteBytes += result.stats.gmWriteBytes;
  counters.instructions += result.stats.instructions;
  counters.kernelNanos += static_cast<uint64_t>(nanos.count());
  counters.blockDim = result.stats.blockDim;
  uint64_t peak = counters.ubPeakBytes;
  while (peak < result.stats.ubPeakBytes &&
         !counters.ubPeakBytes.compare_exchange_weak(peak, result.stats.ubPeakBytes)) {
  }
  return result;
}

}  // namespace aclsim

extern "C" {

void aclsimResetStats() {
  aclsim::Counters& counters = aclsim::counters;
  counters.launches = counters.gmReadBytes = counters.gmWriteBytes = counters.instructions = 0;
  counters.ubPeakBytes = counters.kernelNanos = 0;
  counters.blockDim = 0;
}

void aclsimGetStats(aclsimLaunchStats* stats) {
  if (stats == nullptr) {
    return;
  }
  const aclsim::Counters& counters = aclsim::counters;
  *stats = {};
  stats->launches = counters.launches;
  stats->gmReadBytes = counters.gmReadBytes;
  stats->gmWriteBytes = counters.gmWriteBytes;
  stats->instructions = counters.instructions;
  stats->ubPeakBytes = counters.ubPeakBytes;
  stats->kernelNanos = counters.kernelNanos;
  stats->blockDim = counters.blockDim;
}

uint64_t aclsimLaunchesOf(const char* kernel) {
  if (kernel == nullptr) {
    return 0;
  }
  const std::lock_guard lock(aclsim::counts->mutex);
  const auto found = aclsim::counts->byKernel.find(kernel);
  return found == aclsim::counts->byKernel.end() ? 0 : found->second.launches;
}

const char* aclsimLaunched() {
  thread_local std::string text;
  aclsim::Enter(__func__, [&](const aclsim::Api&) {
    text = aclsim::LaunchedJson();
    return 0;
  });
  return text.c_str();
}

}  // extern "C"
