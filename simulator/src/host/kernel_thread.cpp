// SPDX-License-Identifier: Apache-2.0
#include "host/kernel_thread.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "host/crash.h"

namespace aclsim {

namespace {

// Frames may be big in builds without optimisation.
constexpr size_t kStackBytes = 16ULL << 20;
// A stack that is full must meet this, whatever lies below: mostly the next thread's stack, whose top holds all that it needs to
// run and to end. Kernels are compiled with -fstack-clash-protection, so that their frames meet it whatever their size. Of the usual
// 4 KB any larger frame of other code steps over; Linux keeps this much below a main thread.
constexpr size_t kGuardBytes = 1ULL << 20;

using Work = std::function<void()>;

void* Run(void* work) {
  const std::unique_ptr<Work> own(static_cast<Work*>(work));
  (*own)();
  return nullptr;
}

}  // namespace

bool StartKernelThread(Work work, pthread_t* thread) {
  const BlockedSignals blocked;
  auto own = std::make_unique<Work>(std::move(work));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setguardsize(&attributes, kGuardBytes);
  pthread_attr_setdetachstate(
      &attributes, thread == nullptr ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  pthread_t detached{};
  const bool started =
      pthread_create(thread == nullptr ? &detached : thread, &attributes, Run, own.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (started) {
    own.release();  // the thread has it
  }
  return started;
}

}  // namespace aclsim
