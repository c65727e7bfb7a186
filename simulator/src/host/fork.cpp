// SPDX-License-Identifier: Apache-2.0
#include "host/fork.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>

namespace aclsim {

namespace {

// A holder may wait for the forking thread, say in the dynamic loader.
constexpr auto kForkPatience = std::chrono::seconds(10);

std::atomic<uint64_t> forkCount{0};
std::atomic<uint32_t> holders{0};  // threads
std::atomic<uint32_t> forking{0};  // threads
thread_local uint32_t depth __attribute__((tls_model("initial-exec"))) = 0;

void BeforeFork() {
  ++forking;
  const uint32_t own = depth > 0 ? 1 : 0;
  const auto deadline = std::chrono::steady_clock::now() + kForkPatience;
  while (holders > own && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
  }
}

void InParent() { --forking; }

void InChild() {
  ++forkCount;
  forking = 0;
  holders = depth > 0 ? 1 : 0;
}

[[maybe_unused]] const int registered = pthread_atfork(BeforeFork, InParent, InChild);

}  // namespace

uint64_t ForkCount() { return forkCount.load(std::memory_order_relaxed); }

void HoldFork::Begin() {
  if (depth++ > 0) {
    return;
  }
  ++holders;
  while (forking > 0) {
    --holders;
    while (forking > 0) {
      sched_yield();
    }
    ++holders;
  }
}

void HoldFork::End() {
  if (--depth == 0) {
    --holders;
  }
}

uint32_t HoldFork::Depth() { return depth; }

}  // namespace aclsim

// A thread that is at a function's static variable holds off forks too: a child could never make the variable. The linker hands
// the compiler's calls over (--wrap in CMakeLists.txt).
extern "C" {
int __real___cxa_guard_acquire(int64_t* guard);
void __real___cxa_guard_release(int64_t* guard);
void __real___cxa_guard_abort(int64_t* guard);

int __wrap___cxa_guard_acquire(int64_t* guard) {
  aclsim::HoldFork::Begin();
  const int mine = __real___cxa_guard_acquire(guard);
  if (mine == 0) {
    aclsim::HoldFork::End();
  }
  return mine;
}

void __wrap___cxa_guard_release(int64_t* guard) {
  __real___cxa_guard_release(guard);
  aclsim::HoldFork::End();
}

void __wrap___cxa_guard_abort(int64_t* guard) {
  __real___cxa_guard_abort(guard);
  aclsim::HoldFork::End();
}
}
