// SPDX-License-Identifier: Apache-2.0
#include "engine/meeting.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "engine/host_threads.h"
#include "engine/options.h"

namespace aclsim {

namespace {

constexpr uint32_t kMostPolls = 4096;  // of one value before the core waits for another one
constexpr uint32_t kMostSets = 15;     // of one cross-core flag without a wait

void CheckResident(const Core& core, uint32_t participants) {
  if (participants > core.soc.aivCores) {
    ThrowFault(
        "syncall-cores",
        Format("%s of %u cores, %s has %u", core.instruction, participants, core.soc.name.c_str(),
               core.soc.aivCores),
        "Hardware runs the rest in a second round, which never starts: a hang. Launch at most "
        "as many blocks as there are cores.");
  }
}

}  // namespace

Meeting::Meeting(uint32_t cores)
    : arrivals_(cores),
      sets_(cores),
      waits_(cores),
      polls_(cores),
      rounds_(cores),
      atomics_(cores),
      applied_(cores),
      told_(cores),
      alive_(cores),
      keepGoing_(KeepGoing()),
      dead_(cores) {}

std::string Meeting::Absent(const std::function<bool(uint32_t)>& there) const {
  std::string text;
  size_t absent = 0;
  for (uint32_t core = 0; core < arrivals_.size(); ++core) {
    if (!there(core)) {
      if (++absent <= 8) {
        text += (text.empty() ? "" : ", ") + std::to_string(core);
      }
    }
  }
  return absent > 8 ? Format("%s and %zu more", text.c_str(), absent - 8) : text;
}

void Meeting::Wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& passes,
                   const std::function<std::string()>& what, bool looks) {
  changed_.notify_all();
  if (passes()) {
    return;
  }
  HostThreads::Instance().Blocked();
  waiting_.push_back(&passes);
  const auto canGo = [](const std::function<bool()>* other) { return (*other)(); };
  while (!passes() && !failed_ && !stuck_) {
    if (waiting_.size() == alive_ && std::none_of(waiting_.begin(), waiting_.end(), canGo)) {
      stuck_ = true;
      changed_.notify_all();
      break;
    }
    if (looks) {
      changed_.wait_for(lock, std::chrono::milliseconds(1));
    } else {
      changed_.wait(lock);
    }
  }
  std::erase(waiting_, &passes);
  if (passes()) {
    return;
  }
  if (failed_ || died_) {
    throw CoreAbandoned{};
  }
  EndCore("deadlock", what(),
          "Hardware would wait forever: a hang. Every core of the launch must get there, also one "
          "that has no work.");
}

void Meeting::Tell(Core& core) {
  std::vector<AtomicWrite>& told = atomics_[core.index];
  for (AtomicWrite& write : core.TakeAtomics()) {
    told.push_back(std::move(write));
  }
  core.atomicsTold = !told.empty();
}

// Up to number upTo of all that the core has ever told of.
void Meeting::Apply(uint32_t core, uint64_t upTo) {
  std::vector<AtomicWrite>& told = atomics_[core];
  const uint64_t count =
      upTo <= applied_[core] ? 0 : std::min<uint64_t>(upTo - applied_[core], told.size());
  const auto end = told.begin() + static_cast<std::ptrdiff_t>(count);
  ApplyAtomics({std::make_move_iterator(told.begin()), std::make_move_iterator(end)});
  told.erase(told.begin(), end);
  applied_[core] += count;
}

void Meeting::Publish() {
  for (uint32_t core = 0; core < atomics_.size(); ++core) {
    Apply(core, UINT64_MAX);
  }
}

void Meeting::SettleAtomics(Core& core, const uint8_t* begin, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<AtomicWrite>& told = atomics_[core.index];
  aclsim::SettleAtomics(&told, begin, bytes);
  core.atomicsTold = !told.empty();
}

void Meeting::SyncAll(Core& core, uint32_t participants) {
  CheckResident(core, participants);
  std::unique_lock<std::mutex> lock(mutex_);
  Tell(core);
  const uint32_t mine = ++arrivals_[core.index];
  const std::function<bool()> passes = [&] {
    const auto there = std::count_if(arrivals_.begin(), arrivals_.end(),
                                     [&](uint32_t arrivals) { return arrivals >= mine; });
    return there >= static_cast<std::ptrdiff_t>(participants);
  };
  if (passes()) {
    Publish();
  }
  const auto what = [&] {
    return Format(
        "SyncAll number %u waits for core %s of %u, which left the kernel or waits elsewhere", mine,
        Absent([&](uint32_t other) { return arrivals_[other] >= mine; }).c_str(), participants);
  };
  Wait(lock, passes, what);
  if (died_ && published_ < mine) {
    published_ = mine;
    Publish();
  }
}

void Meeting::SetFlag(Core& core, uint16_t flag) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint32_t& sets = sets_[core.index][flag % kFlags];
  if (sets - waits_[core.index][flag % kFlags] >= kMostSets) {
    PassFault("cross-core-flag",
              Format("CrossCoreSetFlag of flag %u, set %u times without a wait", flag, kMostSets),
              "Hardware's counter overflows. Pair each CrossCoreSetFlag with a CrossCoreWaitFlag.",
              "counted without an end");
  }
  ++sets;
  const size_t slot = flag % kFlags;
  Tell(core);
  told_[core.index][slot].push_back(applied_[core.index] + atomics_[core.index].size());
  const auto missing = [&](uint32_t each) { return !dead_[each] && told_[each][slot].empty(); };
  bool complete = true;
  for (uint32_t each = 0; each < told_.size(); ++each) {
    complete = complete && !missing(each);
  }
  for (uint32_t each = 0; complete && each < told_.size(); ++each) {
    if (!told_[each][slot].empty()) {
      Apply(each, told_[each][slot].front());
      told_[each][slot].pop_front();
    }
  }
  changed_.notify_all();
}

void Meeting::WaitFlag(Core& core, uint16_t flag) {
  const size_t slot = flag % kFlags;
  std::unique_lock<std::mutex> lock(mutex_);
  const uint32_t mine = ++waits_[core.index][slot];
  const std::function<bool()> passes = [&] {
    return std::all_of(sets_.begin(), sets_.end(),
                       [&](const auto& sets) { return sets[slot] >= mine; });
  };
  const auto what = [&] {
    return Format("CrossCoreWaitFlag of flag %u waits for core %s", flag,
                  Absent([&](uint32_t other) { return sets_[other][slot] >= mine; }).c_str());
  };
  Wait(lock, passes, what);
}

void Meeting::Mark(Core& core, uint64_t slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++marks_[slot];
  Tell(core);
  Apply(core.index, UINT64_MAX);
  changed_.notify_all();
}

void Meeting::TakeMark(Core&, uint64_t slot) {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::function<bool()> passes = [&] { return marks_[slot] > 0; };
  const auto what = [] {
    return std::string("IBWait waits for an IBSet of the same memory, block and event");
  };
  Wait(lock, passes, what);
  --marks_[slot];
}

void Meeting::AwaitTurn(Core& core) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t mine = rounds_[core.index]++ * rounds_.size() + core.index;
  const std::function<bool()> passes = [&] { return turn_ >= mine; };
  const auto what = [&] {
    return Format("WaitPreBlock waits for core %zu, which has yet to call NotifyNextBlock",
                  static_cast<size_t>(turn_ % rounds_.size()));
  };
  Wait(lock, passes, what);
}

void Meeting::PassTurn(Core& core) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++turn_;
  Tell(core);
  Apply(core.index, UINT64_MAX);
  changed_.notify_all();
}

void Meeting::Store(Core& core, uint8_t* to, const void* value, uint32_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Tell(core);
  Apply(core.index, UINT64_MAX);
  std::memcpy(to, value, bytes);
  stored_[to] = core.index;
  changed_.notify_all();
}

bool Meeting::Load(Core& core, const uint8_t* from, void* value, uint32_t bytes) {
  // The read was past the data cache, which keeps nothing of it.
  core.CacheClean(reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(from) + bytes);
  std::unique_lock<std::mutex> lock(mutex_);
  Poll& poll = polls_[core.index];
  const auto same = [&] {
    return poll.address == from && std::memcmp(poll.value.data(), from, bytes) == 0;
  };
  if (!same()) {
    poll.address = from;
    poll.value.assign(from, from + bytes);
    poll.count = 0;
  } else if (++poll.count == kMostPolls) {
    poll.count = 0;
    const std::function<bool()> passes = [&] { return !same(); };
    const auto what = [] {
      return std::string(
          "ReadGmByPassDCache reads the same value again and again, and no core is left that could "
          "change it");
    };
    Wait(lock, passes, what, true);
  }
  std::memcpy(value, from, bytes);
  const auto writer = stored_.find(from);
  return writer != stored_.end() && writer->second != core.index;
}

void Meeting::Leave(uint32_t core, bool failed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  --alive_;
  if (failed && keepGoing_) {
    died_ = dead_[core] = true;
    arrivals_[core] = UINT32_MAX;
    sets_[core].fill(UINT32_MAX);
  } else {
    failed_ |= failed;
  }
  changed_.notify_all();
}

}  // namespace aclsim
