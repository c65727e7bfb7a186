// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>

#include "host/fork.h"
#include "host/kernel_thread.h"
#include "host/lock.h"

namespace aclsim {

// Host threads that live as long as the process; one launch at a time uses them.
class HostThreads {
 public:
  static HostThreads& Instance();

  // Runs work(0) .. work(count - 1), the caller being one of the workers.
  void Run(uint32_t count, uint32_t threads, const std::function<void(uint32_t)>& work) {
    const std::lock_guard oneLaunch(launchMutex_);
    std::unique_lock lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    uint32_t helpers = std::min(threads, count) - 1;
    while (started_ < helpers && StartKernelThread([this, id = started_] { Loop(id); })) {
      ++started_;
    }
    helpers = std::min(helpers, started_);
    active_ = wanted_ = helpers;
    ++generation_;
    lock.unlock();
    wake_.notify_all();
    if (Drain()) {
      return;  // a kernel forked: the other workers are not there
    }
    lock.lock();
    done_.wait(lock, [this] { return active_ == 0; });
    work_ = nullptr;
  }

  // A worker, or `blocked` of them, waits for other cores of this launch: somebody else must run those that have not begun.
  // False: the host gives no thread for that.
  bool Blocked(uint32_t blocked = 1) {
    const std::lock_guard lock(mutex_);
    const uint32_t next = next_;
    for (uint32_t left = next < count_ ? std::min(blocked, count_ - next) : 0; left > 0; --left) {
      if (idle_ > 0) {
        --idle_;
        ++called_;
        call_.notify_one();
      } else if (!StartKernelThread([this] { StandIn(); })) {
        return false;
      }
      ++active_;
    }
    return true;
  }

  // Returns whether `waiting` workers are all of this launch, while cores are left that nobody has begun.
  bool NoneLeft(size_t waiting) {
    const std::lock_guard lock(mutex_);
    constexpr size_t kCaller = 1;
    return next_ < count_ && waiting == active_ + kCaller;
  }

 private:
  void Loop(uint32_t id) {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      if (id >= wanted_) {
        continue;
      }
      lock.unlock();
      if (Drain()) {
        return;
      }
      lock.lock();
      if (--active_ == 0) {
        done_.notify_one();
      }
    }
  }

  // Stays for later launches: a thread and its UB take longer to make than many a core to run.
  void StandIn() {
    while (!Drain()) {
      std::unique_lock lock(mutex_);
      if (--active_ == 0) {
        done_.notify_one();
      }
      if (idle_ == kMostIdle) {
        return;
      }
      ++idle_;
      call_.wait(lock, [this] { return called_ > 0; });
      --called_;
    }
  }

  // Returns whether this is a forked child by now.
  bool Drain() {
    const uint64_t forks = ForkCount();
    for (uint32_t i = next_++; i < count_; i = next_++) {
      (*work_)(i);
      if (ForkCount() != forks) {
        return true;
      }
    }
    return false;
  }

  static constexpr uint32_t kMostIdle = 64;

  Mutex<5, "launch"> launchMutex_;
  Mutex<9, "host threads"> mutex_;
  Condition wake_;
  Condition done_;
  const std::function<void(uint32_t)>* work_ = nullptr;
  std::atomic<uint32_t> next_{0};
  uint32_t count_ = 0;
  uint32_t started_ = 0;
  uint32_t wanted_ = 0;
  uint32_t active_ = 0;
  uint64_t generation_ = 0;
  Condition call_;
  uint32_t idle_ = 0;    // stand-ins that wait for a call
  uint32_t called_ = 0;  // and those that have yet to hear theirs
};

}  // namespace aclsim
