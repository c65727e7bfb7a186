// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.h"

#include <algorithm>

#include "engine/core.h"
#include "engine/pipe.h"

namespace aclsim {

namespace {

// Under chaos a pipe runs on before its queue grows beyond this; hardware's queues are shorter.
constexpr size_t kMostPending = 2048;
constexpr size_t kMostOvertaken = 8;
constexpr int kMostDepth = 64;  // of waits that wait for each other

bool Overlap(const Access& a, const Access& b) {
  return a.space == b.space && a.addr < b.addr + b.Extent() && b.addr < a.addr + a.Extent() &&
         (a.use != Use::kRead || b.use != Use::kRead);
}

// Returns a pipe's bit of Core::deferring.
uint8_t Bit(Pipe pipe) { return static_cast<uint8_t>(1u << static_cast<size_t>(pipe)); }

// An instruction never writes what an earlier one of its pipe has yet to read.
bool OverwritesSource(const Record& later, const Record& earlier) {
  for (int w = 0; w < later.accessCount; ++w) {
    const Access& write = later.access[static_cast<size_t>(w)];
    for (int r = 0; r < earlier.accessCount && write.use != Use::kRead; ++r) {
      const Access& read = earlier.access[static_cast<size_t>(r)];
      if (read.use == Use::kRead && Overlap(write, read)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Scheduler::Scheduler(Core& core, uint64_t seed)
    : core_(core),
      chaos_(seed != 0),
      random_(seed * 0x9E3779B97F4A7C15ull + core.index),
      issues_(IssuedPipes(core.kind)),
      order_(issues_.begin(), issues_.end()),
      held_(seed != 0 ? Held() : HeldBack{}),
      limited_(!held_.ranges.empty()),
      named_(limited_ && held_.Few()) {
  if (!chaos_) {
    return;
  }
  core_.deferring = UINT8_MAX;
  // The first six seeds are the orders in which three pipes can overtake each other, and six of those of more pipes; the others mix
  // them.
  constexpr size_t kOfVector = 3;
  if (seed <= 6 && order_.size() > kOfVector) {
    std::shuffle(order_.begin(), order_.end(), random_);
  } else if (seed <= 6) {
    for (uint64_t i = 1; i < seed; ++i) {
      std::next_permutation(order_.begin(), order_.end());
    }
  } else {
    shuffled_ = true;
  }
}

Scheduler::FlagState& Scheduler::Flag(uint32_t flag) {
  if (flag >= flags_.size()) {
    flags_.resize(flag + 1);
  }
  return flags_[flag];
}

void Scheduler::Enqueue(Pipe pipe, Task&& task) {
  std::deque<Task>& queue = queues_[Index(pipe)];
  queue.push_back(std::move(task));
  core_.deferring |= Bit(pipe);
  while (queue.size() > kMostPending) {
    RunHead(pipe, 0);
  }
  if (limited_) {
    Pump();
  }
}

Scheduler::Task Scheduler::Take(Pipe pipe, size_t pick) {
  std::deque<Task>& queue = queues_[Index(pipe)];
  Task task = std::move(queue[pick]);
  queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(pick));
  if (queue.empty() && !chaos_) {
    core_.deferring &= static_cast<uint8_t>(~Bit(pipe));
  }
  return task;
}

void Scheduler::Push(Record&& record, std::function<void()> body) {
  Task task;
  task.record = std::move(record);
  task.body = std::move(body);
  const Pipe pipe = task.record.pipe;
  if (limited_) {
    const uint32_t number = issued_++;
    task.held = held_.Has(number);
    if (task.held && named_) {
      NoteHeld(number, core_.index, core_.PlaceOf(task.record.name, pipe, task.record.site, ""));
    }
  }
  Enqueue(pipe, std::move(task));
}

void Scheduler::PassSet(const SyncEvent& event) {
  ++Flag(event.flag).set;
  core_.Sync(event);
}

void Scheduler::Set(const SyncEvent& event) {
  Flag(event.flag).setSite = event.site;
  if (event.from != Pipe::kScalar && core_.Defers(event.from)) {
    Task task;
    task.kind = TaskKind::kSet;
    task.event = event;
    Enqueue(event.from, std::move(task));
    return;
  }
  PassSet(event);
  Pump();
}

void Scheduler::Wait(const SyncEvent& event) {
  if (event.to == Pipe::kScalar) {
    Demand(event.flag, event);
    --Flag(event.flag).set;
    core_.Sync(event);
    if (limited_) {
      Pump();
    }
    return;
  }
  if (!core_.Defers(event.to) && Flag(event.flag).set > 0) {
    --Flag(event.flag).set;
    core_.Sync(event);
    return;
  }
  Task task;
  task.kind = TaskKind::kWait;
  task.event = event;
  Enqueue(event.to, std::move(task));
}

void Scheduler::Barrier(const SyncEvent& event) {
  if (!core_.Defers(event.from)) {
    core_.Sync(event);
    return;
  }
  Task task;
  task.kind = TaskKind::kBarrier;
  task.event = event;
  Enqueue(event.from, std::move(task));
}

void Scheduler::Call(Pipe pipe, std::function<void()> tell) {
  if (!core_.Defers(pipe)) {
    tell();
    return;
  }
  Task task;
  task.kind = TaskKind::kCall;
  task.body = std::move(tell);
  Enqueue(pipe, std::move(task));
}

void Scheduler::SetForCores(const SyncEvent& event, std::function<void()> tell) {
  if (event.from == Pipe::kScalar || !core_.Defers(event.from)) {
    tell();
    return;
  }
  Task task;
  task.kind = TaskKind::kSetForCores;
  task.body = std::move(tell);
  task.event = event;
  ++setsForCores_[Index(event.from)];
  Enqueue(event.from, std::move(task));
}

void Scheduler::ReachCores() {
  for (const Pipe pipe : order_) {
    while (setsForCores_[Index(pipe)] > 0) {
      RunHead(pipe, 0);
    }
  }
  if (chaos_) {  // one pipe goes on while the core waits
    const Pipe ahead = order_[shuffled_ ? random_() % order_.size() : 0];
    while (Step(ahead)) {
    }
  }
}

void Scheduler::Run(Task& task) {
  switch (task.kind) {
    case TaskKind::kBody:
      core_.RunDeferred(task.record, task.body);
      break;
    case TaskKind::kCall:
      task.body();
      break;
    case TaskKind::kSetForCores:
      --setsForCores_[Index(task.event.from)];
      core_.RunAs(task.event.name, task.event.site, task.body);
      break;
    case TaskKind::kSet:
      PassSet(task.event);
      break;
    case TaskKind::kWait:
      --Flag(task.event.flag).set;
      core_.Sync(task.event);
      break;
    case TaskKind::kBarrier:
      core_.Sync(task.event);
      break;
  }
}

size_t Scheduler::Overtaking(const std::deque<Task>& queue, Pipe pipe) const {
  size_t run = 0;
  while ((pipe != Pipe::kVector || !core_.autoSync) && run < queue.size() && run < kMostOvertaken &&
         queue[run].kind == TaskKind::kBody) {
    ++run;
  }
  return run;
}

bool Scheduler::Free(const std::deque<Task>& queue, size_t pick) {
  const auto place = queue.begin() + static_cast<std::ptrdiff_t>(pick);
  return std::none_of(queue.begin(), place, [&](const Task& earlier) {
    return OverwritesSource(place->record, earlier.record);
  });
}

size_t Scheduler::Pick(const std::deque<Task>& queue, Pipe pipe) {
  const size_t run = Overtaking(queue, pipe);
  const size_t pick = run > 0 ? random_() % run : 0;
  return Free(queue, pick) ? pick : 0;
}

bool Scheduler::Step(Pipe pipe) {
  std::deque<Task>& queue = queues_[Index(pipe)];
  if (queue.empty() ||
      (queue.front().kind == TaskKind::kWait && Flag(queue.front().event.flag).set == 0)) {
    return false;
  }
  // Copies of one pipe overtake each other unless a barrier, or anything else, stands between; so do vector instructions that
  // the compiler adds no barriers to.
  size_t pick = 0;
  if (chaos_ && (!limited_ || queue.front().held)) {
    pick = Pick(queue, pipe);
  }
  Task task = Take(pipe, pick);
  Run(task);
  return true;
}

bool Scheduler::StepFree(Pipe pipe) {
  std::deque<Task>& queue = queues_[Index(pipe)];
  if (queue.empty() || !queue.front().held) {
    return Step(pipe);
  }
  for (size_t pick = 1; pick < Overtaking(queue, pipe); ++pick) {
    if (!queue[pick].held && Free(queue, pick)) {
      Task task = Take(pipe, pick);
      Run(task);
      return true;
    }
  }
  return false;
}

void Scheduler::Demand(uint32_t flag, const SyncEvent& wait) {
  int depth = 0;
  while (Flag(flag).set == 0) {
    if (queues_[Index(wait.from)].empty() || ++depth > static_cast<int>(kMostPending)) {
      Deadlock(wait);
      return;
    }
    RunHead(wait.from, 0);
  }
}

void Scheduler::RunHead(Pipe pipe, int depth) {
  if (Step(pipe)) {
    return;
  }
  const SyncEvent wait = queues_[Index(pipe)].front().event;
  while (Flag(wait.flag).set == 0) {
    if (depth > kMostDepth || wait.from == Pipe::kScalar || queues_[Index(wait.from)].empty()) {
      Deadlock(wait);
      break;
    }
    RunHead(wait.from, depth + 1);
  }
  Step(pipe);
}

void Scheduler::Pump() {
  if ((chaos_ && !limited_) || pumping_) {
    return;
  }
  pumping_ = true;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Pipe pipe : issues_) {
      while (StepFree(pipe)) {
        moved = true;
      }
    }
  }
  pumping_ = false;
}

Pipe Scheduler::PickPipe() {
  std::array<Pipe, kPipes> order;
  const auto end = std::copy(order_.begin(), order_.end(), order.begin());
  if (shuffled_) {
    std::shuffle(order.begin(), end, random_);
  }
  for (const Pipe pipe : std::span(order.begin(), end)) {
    const std::deque<Task>& queue = queues_[Index(pipe)];
    if (!queue.empty() &&
        !(queue.front().kind == TaskKind::kWait && Flag(queue.front().event.flag).set == 0)) {
      return pipe;
    }
  }
  return Pipe::kScalar;
}

void Scheduler::Drain() {
  core_.strips.Run();
  for (;;) {
    for (Pipe pipe = PickPipe(); pipe != Pipe::kScalar; pipe = PickPipe()) {
      Step(pipe);
    }
    const auto stuck = std::find_if(queues_.begin(), queues_.end(),
                                    [](const std::deque<Task>& queue) { return !queue.empty(); });
    if (stuck == queues_.end()) {
      return;
    }
    Deadlock(stuck->front().event);
  }
}

void Scheduler::Drain(Pipe pipe) {
  core_.strips.Run();
  while (!queues_[Index(pipe)].empty()) {
    RunHead(pipe, 0);
  }
}

void Scheduler::DrainConflicts(const Access& access) {
  for (const Pipe pipe : issues_) {
    const std::deque<Task>& queue = queues_[Index(pipe)];
    size_t upTo = 0;
    for (size_t i = 0; i < queue.size(); ++i) {
      for (int a = 0; a < queue[i].record.accessCount; ++a) {
        if (Overlap(queue[i].record.access[static_cast<size_t>(a)], access)) {
          upTo = i + 1;
        }
      }
    }
    const size_t left = queue.size() - upTo;
    while (upTo > 0 && queue.size() > left) {
      RunHead(pipe, 0);
    }
  }
}

std::optional<Scheduler::Behind> Scheduler::SetBehind(uint32_t flag) const {
  for (const std::deque<Task>& queue : queues_) {
    const auto setter = std::find_if(queue.begin(), queue.end(), [&](const Task& task) {
      return task.kind == TaskKind::kSet && task.event.flag == flag;
    });
    if (setter != queue.end() && setter != queue.begin()) {
      return Behind{setter->event, queue.front().event};
    }
  }
  return std::nullopt;
}

void Scheduler::Deadlock(const SyncEvent& stuck) {
  // The SetFlag of a wait may stand behind another wait. The cause is the wait at the end of that chain; where the chain is a
  // circle, each of it is.
  std::vector<SyncEvent> chain = {stuck};
  bool circle = false;
  for (std::optional<Behind> next = SetBehind(stuck.flag); next && !circle;
       next = SetBehind(chain.back().flag)) {
    circle = std::any_of(chain.begin(), chain.end(),
                         [&](const SyncEvent& one) { return one.flag == next->wait.flag; });
    if (!circle) chain.push_back(next->wait);
  }
  const SyncEvent wait = circle ? stuck : chain.back();
  if (wait.flag < kEventFlags) {
    ReportSetTwice(core_, static_cast<uint8_t>(wait.flag / 8));
  }
  std::string others;
  std::vector<uint32_t> sites;
  if (circle) {
    const Behind first = *SetBehind(stuck.flag);
    others = Format("\n  its SetFlag stands on %s behind %s of %s, which waits for it in turn",
                    PipeName(first.wait.to), first.wait.name, FlagName(first.wait.flag).c_str());
    sites = {first.set.site, first.wait.site};
  }
  for (size_t i = chain.size() - 1; !circle && i > 0; --i) {
    const SyncEvent& behind = chain[i - 1];
    others +=
        Format("\n  behind it on %s stands the SetFlag for %s of %s on %s", PipeName(chain[i].to),
               behind.name, FlagName(behind.flag).c_str(), PipeName(behind.to));
    sites.push_back(behind.site);
  }
  const auto waitedFor = [&](uint32_t flag) {
    return std::any_of(queues_.begin(), queues_.end(), [&](const std::deque<Task>& queue) {
      return std::any_of(queue.begin(), queue.end(), [&](const Task& task) {
        return task.kind == TaskKind::kWait && task.event.flag == flag;
      });
    });
  };
  for (uint32_t flag = 0; flag < flags_.size() && flag < kEventFlags; ++flag) {
    if (flags_[flag].set > 0 && !waitedFor(flag)) {
      others += Format("\n  set and not waited for: %s", FlagName(flag).c_str());
      sites.push_back(flags_[flag].setSite);
    }
  }
  if (others.empty()) {
    others = "\n  no flag is set that nobody waits for";
  }
  const char* const instruction = core_.instruction;
  core_.GoOn(core_.FaultAt(
                 "deadlock", wait.site, wait.to, wait.name,
                 Format("%s of %s on %s, which nobody %s%s", wait.name, FlagName(wait.flag).c_str(),
                        PipeName(wait.to), circle ? "can set" : "sets", others.c_str()),
                 "Hardware would wait forever: a hang. Every WaitFlag needs a SetFlag with the "
                 "same event and id, issued where it can be reached.",
                 sites),
             "nothing waits here");
  core_.instruction = instruction;
  ++Flag(wait.flag).set;
}

}  // namespace aclsim
