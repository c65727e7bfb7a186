// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_counts.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "aclsim/aclsim.h"
#include "engine/fork.h"

namespace aclsim {

namespace {

struct Counts {
  std::mutex mutex;
  std::unordered_map<std::string, uint64_t> byKernel;
};

PerProcess<Counts> counts;

}  // namespace

void CountLaunch(const std::string& kernel) {
  const std::lock_guard lock(counts->mutex);
  counts->byKernel[kernel] += 1;
}

}  // namespace aclsim

extern "C" uint64_t aclsimLaunchesOf(const char* kernel) {
  if (kernel == nullptr) {
    return 0;
  }
  const std::lock_guard lock(aclsim::counts->mutex);
  const auto found = aclsim::counts->byKernel.find(kernel);
  return found == aclsim::counts->byKernel.end() ? 0 : found->second;
}
