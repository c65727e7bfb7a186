// SPDX-License-Identifier: Apache-2.0
// Launches add up here: aclsimGetStats, aclsimLaunchesOf.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "aclsim/aclsim.h"
#include "engine/options.h"
#include "host/fork.h"
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

struct Counts {
  std::mutex mutex;
  std::unordered_map<std::string, uint64_t> byKernel;
};

PerProcess<Counts> counts;

void CountLaunch(const std::string& kernel) {
  const std::lock_guard lock(counts->mutex);
  counts->byKernel[kernel] += 1;
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
    CountLaunch(launch.opType);
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
  return found == aclsim::counts->byKernel.end() ? 0 : found->second;
}

}  // extern "C"
