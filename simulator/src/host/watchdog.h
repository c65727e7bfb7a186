// SPDX-License-Identifier: Apache-2.0
// Ends code of kernels and of operator libraries that would go on forever. A thread of its own looks a few times a second at
// what the host threads that run such code get done for the processor time that they take; it sleeps while there are none.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <utility>

namespace aclsim {

// Sent to a thread whose code is to end.
constexpr int kStuckSignal = SIGXCPU;
// Its value is the address of this, which each copy of the library has one of.
extern char stuckToken __attribute__((visibility("hidden")));

enum class Stuck : uint8_t {
  kNo,
  kIdle,       // no instruction, no memory but what was touched just before
  kRepeating,  // instructions, but on the same memory again and again
};

// This counts what the code of others gets done on one host thread. That thread counts, the watchdog reads.
class ThreadProgress {
 public:
  static ThreadProgress& OfThread();
  ~ThreadProgress();
  ThreadProgress(const ThreadProgress&) = delete;
  ThreadProgress& operator=(const ThreadProgress&) = delete;

  // Code of the library that holds `code` begins. Returns what End wants: such code may call more of its kind.
  const void* Begin(const void* code);
  void End(const void* outer);

  // An instruction, or an event between pipes.
  void Issued() { Count(&issued_); }
  // A scalar access, or a copy from or to GM; true: it is progress. Whoever polls touches few lines, over and over; they are no progress.
  bool Touched(const void* address) {
    const auto line = reinterpret_cast<uintptr_t>(address) / 64;
    auto& [last, before] = recent_[line * kMix >> (64 - kSetBits)];
    if (last == line) [[likely]] {
      return false;
    }
    const bool isNew = before != line;
    before = std::exchange(last, line);
    if (isNew) {
      Count(&places_);
    }
    return isNew;
  }

  // A scalar access that somebody observes.
  void Recorded() { Count(&recorded_); }
  // A copy from or to GM.
  void Moved(uint64_t bytes) { Count(&moved_, bytes); }
  // Sums over all host threads there have been.
  static uint64_t MovedByAll();
  // The watchdog calls it at each look, with MovedByAll.
  static void OnTick(void (*tick)(uint64_t moved));
  // Tells whether somebody keeps a record of each call of this thread, which then must not make too many.
  void KeepsRecords(bool on) { keepsRecords_.store(on, std::memory_order_relaxed); }

  // Returns whether the code of this thread is to end, asked where it may.
  bool Ends() { return ends_.load(std::memory_order_relaxed) && EndsNow(); }
  // Returns the same in the handler of kStuckSignal, at any instruction. Only in its own library: everywhere else it may hold locks.
  bool EndsAt(const void* instruction) const;
  Stuck How() const { return how_; }
  // Processor time of a host thread without progress anywhere, when the watchdog had seen enough.
  double Seconds() const { return seconds_; }

 private:
  friend class Watchdog;
  using Counter = std::atomic<uint64_t>;
  static constexpr uint64_t kMix = 0x9E3779B97F4A7C15;  // keeps neighbours apart
  static constexpr int kSetBits = 6;

  ThreadProgress();
  bool IsCondemned() const;
  bool EndsNow();
  // One thread writes: no locked instruction.
  static void Count(Counter* counter, uint64_t by = 1) {
    counter->store(counter->load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  Counter run_{0};  // a number per Begin; 0: none of this code runs
  std::atomic<const void*> code_{nullptr};
  Counter issued_{0};
  Counter places_{0};
  Counter recorded_{0};
  Counter moved_{0};
  std::atomic<bool> keepsRecords_{false};
  std::atomic<bool> ends_{false};  // perhaps: Ends knows
  std::array<std::pair<uintptr_t, uintptr_t>, size_t{1} << kSetBits> recent_{};
  uint64_t runs_ = 0;
  const void* watchdog_ = nullptr;  // that knows this thread: a forked child has another one

  // The watchdog has decided this.
  Counter condemned_{0};  // a run_
  std::atomic<Stuck> how_{Stuck::kNo};
  Counter issuedThen_{0};
  Counter placesThen_{0};
  std::atomic<uintptr_t> libraryBegin_{0};
  std::atomic<uintptr_t> libraryEnd_{0};
  std::atomic<double> seconds_{0};

  // It saw this when it looked last; it alone reads it.
  struct {
    uint64_t run = 0;
    uint64_t issued = 0;
    uint64_t places = 0;
    uint64_t recorded = 0;
    double processor = 0;
  } seen_;
  double idle_ = 0;           // processor time since the last instruction or new place
  double repeating_ = 0;      // and since the last new place
  double processorThen_ = 0;  // when it was condemned
  pthread_t thread_{};
  clockid_t clock_{};
};

}  // namespace aclsim
