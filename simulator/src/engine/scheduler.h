// SPDX-License-Identifier: Apache-2.0
// The pipes of one core. Normally an instruction runs when it is issued; one that stands behind a WaitFlag whose flag is not
// set yet waits in its pipe's queue. Under chaos every pipe runs as late as the synchronisation allows, so that a missing flag
// gives wrong numbers.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/flag_numbers.h"
#include "engine/held.h"
#include "engine/record.h"

namespace aclsim {

class Scheduler {
 public:
  // seed 0: no chaos.
  Scheduler(Core& core, uint64_t seed);

  void Push(Record&& record, std::function<void()> body);

  // A SetFlag reached by pipe `from`, a WaitFlag that holds up pipe `to`. flag: any number that pairs them.
  void Set(const SyncEvent& event);
  void Wait(const SyncEvent& event);
  // Tells the observers at the pipe's point in time rather than now.
  void Call(Pipe pipe, std::function<void()> tell);
  // A CrossCoreSetFlag: tell() runs when `event.from` gets to it.
  void SetForCores(const SyncEvent& event, std::function<void()> tell);
  // Runs what stands before such sets: this core is about to wait for others, which may wait for them.
  void ReachCores();
  // Orders `pipe`'s own instructions.
  void Barrier(const SyncEvent& event);
  // Runs everything that was issued; a deadlock fault when it cannot.
  void Drain();
  // Runs what was issued to `pipe` up to now.
  void Drain(Pipe pipe);
  // Before a scalar access: the pipes' pending instructions that touch the same bytes run, as the compiler's automatic
  // synchronisation makes sure.
  void DrainConflicts(const Access& access);

  // A flag that will not be used again: its buffer is gone.
  void Forget(uint32_t flag) { Flag(flag) = {}; }

 private:
  enum class TaskKind : uint8_t { kBody, kSet, kWait, kBarrier, kCall, kSetForCores };
  struct Task {
    TaskKind kind = TaskKind::kBody;
    Record record;
    std::function<void()> body;
    SyncEvent event;
    bool held = false;
  };
  struct FlagState {
    uint32_t set = 0;  // sets that no wait has taken
    uint32_t setSite = 0;
  };

  static size_t Index(Pipe pipe) { return static_cast<size_t>(pipe); }
  void Enqueue(Pipe pipe, Task&& task);
  // Takes a task out of its pipe's queue.
  Task Take(Pipe pipe, size_t pick);
  FlagState& Flag(uint32_t flag);
  void PassSet(const SyncEvent& event);
  // True when the head of the pipe could run; runs it.
  bool Step(Pipe pipe);
  void Run(Task& task);
  // Runs pipes until the flag is set.
  void Demand(uint32_t flag, const SyncEvent& wait);
  void RunHead(Pipe pipe, int depth);
  // In normal order, and where chaos holds back only some: what nothing keeps runs at once.
  void Pump();
  // Step, but not of an instruction that is held back: others overtake it where hardware lets them.
  bool StepFree(Pipe pipe);
  // Returns how many instructions at a queue's head may run in any order, as far as its pipe goes.
  size_t Overtaking(const std::deque<Task>& queue, Pipe pipe) const;
  // Returns whether one of them may go first.
  static bool Free(const std::deque<Task>& queue, size_t pick);
  // One at random; 0, the head, where the one may not.
  size_t Pick(const std::deque<Task>& queue, Pipe pipe);
  Pipe PickPipe();
  // A SetFlag that cannot run yet, and the wait at the head of its queue.
  struct Behind {
    SyncEvent set;
    SyncEvent wait;
  };
  std::optional<Behind> SetBehind(uint32_t flag) const;
  // The wait can never pass; where faults do not end cores it does all the same.
  void Deadlock(const SyncEvent& stuck);

  Core& core_;
  const bool chaos_;
  std::mt19937_64 random_;
  const std::span<const Pipe> issues_;  // the pipes of the core
  std::vector<Pipe> order_;
  bool shuffled_ = false;  // pick pipes at random instead of by order_
  bool pumping_ = false;
  const HeldBack held_;
  const bool limited_;   // only held_ is late
  const bool named_;     // those few are said
  uint32_t issued_ = 0;  // instructions, while limited_
  std::array<std::deque<Task>, kPipes> queues_;
  std::array<uint32_t, kPipes> setsForCores_{};  // in queues_
  std::vector<FlagState> flags_;
};

}  // namespace aclsim
