// SPDX-License-Identifier: Apache-2.0
#include "host/watchdog.h"

#include <link.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "host/crash.h"
#include "host/fork.h"
#include "host/host_threads.h"
#include "host/lock.h"
#include "host/options.h"

namespace aclsim {

namespace {

constexpr double kLongestTick = 0.25;  // seconds between two looks
constexpr double kShortestTick = 0.002;
constexpr double kTicksPerLimit = 64;
// This multiplies the limit: instructions on the same memory may be a computation in UB.
constexpr double kRepeatingFactor = 10;
// Who polls for a core that has not begun, because host threads are fewer than cores, must get on: after so many seconds without a
// new place, or that part of the limit.
constexpr double kHandOn = 0.1;
constexpr double kHandOnShare = 0.25;
constexpr uint32_t kMostThreads = 64;  // at a time
// Processor time in which code that calls the API at all has come to a call: it ends there, and at the same one in each run.
constexpr double kUntilSignal = 0.001;
// Calls without a new place. Checks and profiles keep a record of each, gigabytes of them in the time of the limit.
constexpr double kMostRecords = 16e6;

std::atomic<void (*)(uint64_t moved)> onTick{nullptr};

double ProcessorSeconds(clockid_t clock) {
  timespec now{};
  return clock_gettime(clock, &now) == 0
             ? static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec)
             : 0;
}

// Returns where the library is mapped that holds the address.
std::pair<uintptr_t, uintptr_t> RangeAround(const void* address) {
  struct Search {
    uintptr_t address;
    uintptr_t begin = 0;
    uintptr_t end = 0;
  } search{reinterpret_cast<uintptr_t>(address)};
  const HoldFork hold;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto& wanted = *static_cast<Search*>(out);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 && wanted.address >= begin &&
              wanted.address < begin + header.p_memsz) {
            wanted.begin = begin;
            wanted.end = begin + header.p_memsz;
            return 1;
          }
        }
        return 0;
      },
      &search);
  return {search.begin, search.end};
}

}  // namespace

char stuckToken = 0;

// Hidden: each copy of the library in a process has its own.
class __attribute__((visibility("hidden"))) Watchdog {
 public:
  static Watchdog& Instance();

  void Add(ThreadProgress* progress) {
    progress->thread_ = pthread_self();
    pthread_getcpuclockid(progress->thread_, &progress->clock_);
    progress->watchdog_ = this;
    const std::lock_guard lock(mutex_);
    threads_.push_back(progress);
  }

  void Remove(ThreadProgress* progress) {
    const std::lock_guard lock(mutex_);
    std::erase(threads_, progress);
    movedByGone_ += progress->moved_;
    if (progress->seen_.run != 0) {  // its end is progress that no look will see
      idle_ = repeating_ = records_ = 0;
    }
  }

  // After run_ of some thread has been set.
  void Wake() {
    if (!asleep_) {
      return;
    }
    const std::lock_guard lock(mutex_);
    if (!started_) {
      Start();
    }
    asleep_ = false;
    wake_.notify_one();
  }

  uint64_t Moved() {
    const std::lock_guard lock(mutex_);
    return MovedLocked();
  }

 private:
  uint64_t MovedLocked() const {
    return std::accumulate(
        threads_.begin(), threads_.end(), movedByGone_,
        [](uint64_t sum, const ThreadProgress* each) { return sum + each->moved_; });
  }

  void Start() {
    const BlockedSignals blocked;  // this thread starts others that run kernels
    try {
      std::thread([this] { Loop(); }).detach();
      started_ = true;
    } catch (const std::system_error&) {
      // The kernel can do without.
    }
  }

  bool Anything() const {
    return std::any_of(threads_.begin(), threads_.end(),
                       [](const ThreadProgress* each) { return each->run_ != 0; });
  }

  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const double limit = StuckLimit();
      asleep_ = !Anything();
      wake_.wait(lock, [this] { return !asleep_; });
      const double tick = limit > 0
                              ? std::clamp(limit / kTicksPerLimit, kShortestTick, kLongestTick)
                              : kLongestTick;
      wake_.wait_for(lock, std::chrono::duration<double>(ending_ ? kShortestTick : tick));
      const bool handsOn = Look(limit);
      const uint64_t moved = MovedLocked();
      lock.unlock();
      if (handsOn) {
        HostThreads::Instance().Blocked(kMostThreads);
      }
      if (const auto tick = onTick.load()) {
        tick(moved);
      }
      lock.lock();
    }
  }

  // Returns whether others must run the cores that have not begun.
  bool Look(double limit) {
    bool issued = false;
    bool touched = false;
    uint64_t calls = 0;
    double used = 0;
    uint32_t busy = 0;
    for (ThreadProgress* each : threads_) {
      const uint64_t run = each->run_;
      const auto seen = each->seen_;
      if (run == 0 && seen.run == 0) {
        continue;
      }
      each->seen_ = {run, each->issued_, each->places_, each->recorded_,
                     run != 0 ? ProcessorSeconds(each->clock_) : 0};
      const bool ended = run != seen.run;
      const bool newPlace = ended || each->seen_.places != seen.places;
      const bool any = newPlace || each->seen_.issued != seen.issued;
      const double since = ended ? 0 : each->seen_.processor - seen.processor;
      each->idle_ = any ? 0 : each->idle_ + since;
      each->repeating_ = newPlace ? 0 : each->repeating_ + since;
      // A core that has just begun has not got anything done for the others yet.
      touched |= newPlace && seen.run != 0;
      issued |= any && seen.run != 0;
      calls += each->keepsRecords_
                   ? each->seen_.issued - seen.issued + each->seen_.recorded - seen.recorded
                   : 0;
      used += since;
      busy += since > 0;
    }
    // Somebody may wait for what another one computes: nobody is stuck while any of them gets on.
    const double perThread = busy > 0 ? used / std::min(busy, HostThreadCount()) : 0;
    idle_ = issued ? 0 : idle_ + perThread;
    repeating_ = touched ? 0 : repeating_ + perThread;
    records_ = touched ? 0 : records_ + static_cast<double>(calls);
    ending_ = false;
    if (limit <= 0) {
      return repeating_ >= kHandOn;
    }
    const double part =
        std::max({idle_ / limit, repeating_ / limit / kRepeatingFactor, records_ / kMostRecords});
    if (part >= 1 && idle_ >= repeating_) {
      End(Stuck::kIdle, &ThreadProgress::idle_, idle_);
    } else if (part >= 1) {
      End(Stuck::kRepeating, &ThreadProgress::repeating_, repeating_);
    }
    return repeating_ >= kHandOn || part >= kHandOnShare;
  }

  // Until they are gone: nothing happens to a thread that is not at an instruction of its own library.
  void End(Stuck how, double ThreadProgress::* without, double seconds) {
    for (ThreadProgress* each : threads_) {
      if (each->seen_.run == 0 || each->*without <= 0) {
        continue;
      }
      const auto [begin, end] = RangeAround(each->code_);
      each->libraryBegin_ = begin;
      each->libraryEnd_ = end;
      if (!each->IsCondemned()) {
        each->processorThen_ = each->seen_.processor;
      }
      each->issuedThen_ = each->seen_.issued;
      each->placesThen_ = each->seen_.places;
      each->how_ = how;
      each->seconds_ = seconds;
      each->condemned_ = each->seen_.run;
      each->ends_ = true;
      ending_ = true;
      if (each->seen_.processor - each->processorThen_ >= kUntilSignal) {
        sigval value{};
        value.sival_ptr = &stuckToken;
        pthread_sigqueue(each->thread_, kStuckSignal, value);
      }
    }
  }

  Mutex<11, "watchdog"> mutex_;
  Condition wake_;
  std::atomic<bool> asleep_{true};
  bool started_ = false;
  bool ending_ = false;
  std::vector<ThreadProgress*> threads_;
  uint64_t movedByGone_ = 0;
  double idle_ = 0;       // processor time of a host thread since anything got on
  double repeating_ = 0;  // and since anything touched new memory
  double records_ = 0;    // calls since then of which somebody keeps a record
};

namespace {
PerProcess<HostThreads> hostThreads;
PerProcess<Watchdog> theWatchdog;
}  // namespace

HostThreads& HostThreads::Instance() { return *hostThreads; }
Watchdog& Watchdog::Instance() { return *theWatchdog; }

ThreadProgress::ThreadProgress() = default;

ThreadProgress::~ThreadProgress() {
  if (watchdog_ == &Watchdog::Instance()) {
    Watchdog::Instance().Remove(this);
  }
}

ThreadProgress& ThreadProgress::OfThread() {
  // Not in place: a library that is loaded at run time has little thread-local storage.
  thread_local const std::unique_ptr<ThreadProgress> progress(new ThreadProgress);
  return *progress;
}

void ThreadProgress::OnTick(void (*tick)(uint64_t moved)) { onTick = tick; }

uint64_t ThreadProgress::MovedByAll() { return Watchdog::Instance().Moved(); }

const void* ThreadProgress::Begin(const void* code) {
  Watchdog& watchdog = Watchdog::Instance();
  if (watchdog_ != &watchdog) {
    watchdog.Add(this);
  }
  recent_ = {};  // an earlier launch on the same memory says nothing about this one
  const void* const outer = code_.exchange(code);
  run_ = ++runs_;
  watchdog.Wake();
  return outer;
}

void ThreadProgress::End(const void* outer) {
  code_ = outer;
  run_ = outer != nullptr ? ++runs_ : 0;
}

// It may have got on since.
bool ThreadProgress::IsCondemned() const {
  return run_ != 0 && condemned_ == run_ && places_ == placesThen_ &&
         (how_ == Stuck::kRepeating || issued_ == issuedThen_);
}

bool ThreadProgress::EndsNow() {
  ends_ = false;
  return IsCondemned();
}

bool ThreadProgress::EndsAt(const void* instruction) const {
  const auto at = reinterpret_cast<uintptr_t>(instruction);
  return IsCondemned() && at >= libraryBegin_ && at < libraryEnd_;
}

}  // namespace aclsim
