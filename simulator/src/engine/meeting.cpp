// SPDX-License-Identifier: Apache-2.0
#include "engine/meeting.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "engine/options.h"
#include "host/crash.h"
#include "host/host_threads.h"

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

std::string List(const std::vector<uint32_t>& cores) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(cores.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(cores[i]);
  }
  return cores.size() > kMost ? Format("%s and %zu more", text.c_str(), cores.size() - kMost)
                              : text;
}

// A core's work here is not the kernel's own code, however long others hold it up.
class InMeeting {
 public:
  explicit InMeeting(Core& core) : core_(core) { core_.ownTime.Enters(); }
  ~InMeeting() { core_.ownTime.Leaves(); }
  InMeeting(const InMeeting&) = delete;
  InMeeting& operator=(const InMeeting&) = delete;

 private:
  Core& core_;
  // Words and atomic copies are in memory that a program may free meanwhile.
  const HoldsLocks holdsLocks_;
};

}  // namespace

std::vector<uint32_t> TurnsOfCores(uint32_t cores) {
  std::vector<uint32_t> turns(cores);
  std::iota(turns.begin(), turns.end(), 0);
  if (const uint64_t seed = ChaosSeed(); seed == 1) {
    std::ranges::reverse(turns);
  } else if (seed > 1) {
    std::ranges::shuffle(turns, std::mt19937_64(seed));
  }
  return turns;
}

Meeting::Meeting(uint32_t cores)
    : turns_(TurnsOfCores(cores)),
      asides_(cores),
      stands_(cores),
      sets_(cores),
      waits_(cores),
      polls_(cores),
      met_(cores),
      rounds_(cores),
      passed_(cores),
      turnStacks_(cores),
      atomics_(cores),
      applied_(cores),
      told_(cores),
      alive_(cores),
      keepGoing_(KeepGoing()),
      dead_(cores) {}

std::vector<uint32_t> Meeting::Absent(const std::function<bool(uint32_t)>& there) const {
  std::vector<uint32_t> absent;
  for (uint32_t core = 0; core < stands_.size(); ++core) {
    if (!there(core)) {
      absent.push_back(core);
    }
  }
  return absent;
}

void Meeting::ThrowDeadlock(const Vain& vain) const {
  constexpr size_t kMostEnds = 4;
  const auto& [what, cores, advice] = vain;
  KernelFault fault{"deadlock",
                    what,
                    !advice.empty() ? advice
                                    : "Hardware would wait forever: a hang. Every core of the "
                                      "launch must get there, also one that has no work.",
                    CaptureStack(),
                    {},
                    "",
                    true};
  for (const uint32_t other : cores) {
    FaultEnd end = stands_[other];
    if (fault.related.size() < kMostEnds && !end.stack.empty()) {
      end.instruction = Format("core %u: %s", other, end.instruction.c_str());
      fault.related.push_back(std::move(end));
    }
  }
  throw fault;
}

void Meeting::Wait(Core& core, std::unique_lock<MeetingMutex>& lock,
                   const std::function<bool()>& passes, const std::function<Vain()>& vain,
                   bool looks) {
  if (passes()) {
    return;
  }
  stands_[core.index] = {core.sites.Stack(core.sites.Capture()), core.instruction,
                         "is where it waits"};
  const bool refused = !HostThreads::Instance().Blocked();
  waiting_.push_back(&passes);
  const auto noneCanGo = [this] {
    return std::none_of(waiting_.begin(), waiting_.end(),
                        [](const std::function<bool()>* other) { return (*other)(); });
  };
  while (!passes() && !failed_ && !stuck_ && !abandoned_) {
    if (refused && HostThreads::Instance().NoneLeft(waiting_.size()) && noneCanGo()) {
      std::erase(waiting_, &passes);
      throw std::runtime_error(Format(
          "%zu of %zu cores wait for others that have not begun, and the host gives no thread to "
          "run those on. Next: raise its limit of threads (ulimit -u, a container's pids) or of "
          "addresses (ulimit -v), or launch fewer blocks",
          waiting_.size() + 1, stands_.size()));
    }
    if (waiting_.size() == alive_ && noneCanGo()) {
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
  if (passes() && !abandoned_) {
    return;
  }
  if (failed_ || died_ || abandoned_) {
    throw CoreAbandoned{};
  }
  ThrowDeadlock(vain());
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
  for (const uint32_t core : turns_) {
    Apply(core, UINT64_MAX);
  }
}

void Meeting::SettleAtomics(Core& core, const uint8_t* begin, uint64_t bytes) {
  const InMeeting here(core);
  const std::lock_guard lock(mutex_);
  std::vector<AtomicWrite>& told = atomics_[core.index];
  aclsim::SettleAtomics(&told, begin, bytes);
  core.atomicsTold = !told.empty();
}

uint32_t Meeting::SyncAll(Core& core, const void* memory, uint32_t participants) {
  const InMeeting here(core);
  CheckResident(core, participants);
  std::unique_lock lock(mutex_);
  Tell(core);
  const auto [found, isNew] = gatherings_.try_emplace(memory);
  Gathering& gathering = found->second;
  if (isNew) {
    gathering.number = memory == nullptr ? 0 : static_cast<uint32_t>(gatherings_.size());
    gathering.arrivals.resize(stands_.size());
  }
  const uint32_t mine = ++gathering.arrivals[core.index];
  if (gathering.rounds.size() < mine) {
    gathering.rounds.push_back({core.index, participants, core.sites.Stack(core.lastSite), {}});
  }
  if (StoresSoFar() > 0) {
    std::vector<uint32_t>& stores = gathering.rounds[mine - 1].stores;
    stores.resize(stands_.size());
    stores[core.index] = StoresSoFar();
  }
  const Gathering::Round round = gathering.rounds[mine - 1];
  if (round.participants != participants) {
    throw KernelFault{
        "syncall-cores",
        Format("SyncAll number %u with usedCores %u on core %u, and with usedCores %u on core %u",
               mine, participants, core.index, round.participants, round.core),
        "Hardware lets each core wait for as many others as it says: some go on before all are "
        "there. Pass the same number on every core.",
        CaptureStack(),
        {{round.stack, Format("core %u: SyncAll", round.core), ""}},
        ""};
  }
  const auto there = [&](uint32_t other) {
    return other >= participants || dead_[other] || gathering.arrivals[other] >= mine;
  };
  const std::function<bool()> passes = [&] {
    for (uint32_t other = 0; other < participants; ++other) {
      if (!there(other)) {
        return false;
      }
    }
    return true;
  };
  if (passes()) {
    Publish();
    changed_.notify_all();
  }
  const auto vain = [&]() -> Vain {
    const std::vector<uint32_t> absent = Absent(there);
    return {Format("SyncAll number %u waits for core %s of %u, which left the kernel or waits "
                   "elsewhere; %zu came",
                   mine, List(absent).c_str(), participants, participants - absent.size()),
            absent};
  };
  Wait(core, lock, passes, vain);
  if (died_ && gathering.published < mine) {
    gathering.published = mine;
    Publish();
  }
  met_[core.index] = gathering.rounds[mine - 1].stores;
  return gathering.number;
}

void Meeting::SetFlag(Core& core, uint16_t flag) {
  const InMeeting here(core);
  std::unique_lock lock(mutex_);
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
  for (const uint32_t each : turns_) {
    if (complete && !told_[each][slot].empty()) {
      Apply(each, told_[each][slot].front());
      told_[each][slot].pop_front();
    }
  }
  lock.unlock();
  if (complete) {  // nobody waits for less
    changed_.notify_all();
  }
}

void Meeting::WaitFlag(Core& core, uint16_t flag) {
  const InMeeting here(core);
  const size_t slot = flag % kFlags;
  std::unique_lock lock(mutex_);
  const uint32_t mine = ++waits_[core.index][slot];
  const std::function<bool()> passes = [&] {
    return std::all_of(sets_.begin(), sets_.end(),
                       [&](const auto& sets) { return sets[slot] >= mine; });
  };
  const auto vain = [&]() -> Vain {
    if (std::all_of(sets_.begin(), sets_.end(),
                    [&](const auto& sets) { return sets[slot] == 0; })) {
      return {Format("CrossCoreWaitFlag of flag %u, which no vector core sets", flag),
              {},
              "If a cube core sets it (ASCEND_IS_AIC), this is a MIX kernel. Cube cores are not "
              "simulated, so the wait never ends here. If none does, hardware would hang: add the "
              "CrossCoreSetFlag."};
    }
    const std::vector<uint32_t> absent =
        Absent([&](uint32_t other) { return sets_[other][slot] >= mine; });
    return {Format("CrossCoreWaitFlag of flag %u waits for core %s", flag, List(absent).c_str()),
            absent};
  };
  Wait(core, lock, passes, vain);
}

uint32_t Meeting::SetMark(Core& core, uint64_t slot, std::string name) {
  const InMeeting here(core);
  std::unique_lock lock(mutex_);
  const std::function<bool()> passes = [&] { return marks_.find(slot) == marks_.end(); };
  const auto vain = [&]() -> Vain {
    const Mark& mark = marks_[slot];
    return {Format("IBSet of %s waits for an IBWait that takes the mark that core %u has set there",
                   name.c_str(), mark.core),
            {}};
  };
  Wait(core, lock, passes, vain);
  const uint32_t number = ++marksSet_;
  marks_[slot] = {number, core.index, std::move(name), core.sites.Stack(core.lastSite)};
  Tell(core);
  Apply(core.index, UINT64_MAX);
  changed_.notify_all();
  return number;
}

uint32_t Meeting::TakeMark(Core& core, uint64_t slot) {
  const InMeeting here(core);
  std::unique_lock lock(mutex_);
  const std::function<bool()> passes = [&] { return marks_.find(slot) != marks_.end(); };
  const auto vain = []() -> Vain {
    return {"IBWait waits for an IBSet of the same memory, block and event", {}};
  };
  Wait(core, lock, passes, vain);
  const uint32_t number = marks_[slot].number;
  marks_.erase(slot);
  changed_.notify_all();
  return number;
}

std::vector<Finding> Meeting::LeftMarks(const KernelLaunch& launch) const {
  std::vector<Finding> findings;
  for (const auto& [slot, mark] : marks_) {
    Finding finding;
    finding.kind = "block-event";
    finding.op = launch.opType;
    finding.core = mark.core;
    finding.blockDim = launch.blockDim;
    finding.at = {PipeName(Pipe::kScalar), "IBSet", "", FindKernelLine(mark.stack)};
    finding.detail = Format("IBSet of %s is never waited for", mark.name.c_str());
    finding.advice =
        "Whoever should wait for it does not, and the word stays 1: the next IBSet of it hangs, "
        "also in the next launch with this memory, and the next IBWait does not wait. Pair each "
        "IBSet with an IBWait of the same memory, block and event.";
    finding.soc = launch.soc->name;
    finding.tiling = launch.tilingText;
    finding.tilingKey = launch.tilingKey;
    findings.push_back(std::move(finding));
  }
  return findings;
}

uint32_t Meeting::AwaitTurn(Core& core) {
  const InMeeting here(core);
  CheckResident(core, core.launch.blockDim);
  std::unique_lock lock(mutex_);
  const uint64_t mine = rounds_[core.index]++ * rounds_.size() + core.index;
  turnStacks_[core.index] = core.sites.Stack(core.sites.Capture());
  const std::function<bool()> passes = [&] { return turn_ >= mine; };
  const auto vain = [&]() -> Vain {
    const auto next = static_cast<uint32_t>(turn_ % rounds_.size());
    return {Format("WaitPreBlock waits for core %u, which has yet to call NotifyNextBlock", next),
            {next}};
  };
  Wait(core, lock, passes, vain);
  if (!turnsInitialised_) {
    turnsInitialised_ = true;  // once is enough
    PassFault("sync-workspace",
              "WaitPreBlock before any block has called InitDetermineComputeWorkspace",
              "The words in GM are what was left there: a block passes too early, or never. Call "
              "InitDetermineComputeWorkspace first, in every block.",
              "done, as with words that were cleared");
  }
  return static_cast<uint32_t>(mine);
}

void Meeting::InitTurns() {
  const std::lock_guard lock(mutex_);
  turnsInitialised_ = true;
}

std::vector<Finding> Meeting::LeftTurns(const KernelLaunch& launch) const {
  const auto most = std::max_element(rounds_.begin(), rounds_.end());
  for (uint32_t core = 0; core < rounds_.size(); ++core) {
    const bool kept = passed_[core] < rounds_[core];
    if (!kept && rounds_[core] == *most) {
      continue;
    }
    const auto other = static_cast<uint32_t>(most - rounds_.begin());
    Finding finding;
    finding.kind = "block-event";
    finding.op = launch.opType;
    finding.core = core;
    finding.blockDim = launch.blockDim;
    finding.at = {PipeName(Pipe::kScalar), "WaitPreBlock", "",
                  FindKernelLine(turnStacks_[kept ? core : other])};
    finding.detail = kept ? Format("core %u takes its turn and never calls NotifyNextBlock", core)
                          : Format("core %u calls WaitPreBlock %llu times, core %u %llu times",
                                   core, static_cast<unsigned long long>(rounds_[core]), other,
                                   static_cast<unsigned long long>(*most));
    finding.advice =
        "Blocks that come later wait for it: a hang, or an order that differs from run to run. "
        "Call "
        "WaitPreBlock and NotifyNextBlock in pairs, equally often in every block.";
    finding.soc = launch.soc->name;
    finding.tiling = launch.tilingText;
    finding.tilingKey = launch.tilingKey;
    return {std::move(finding)};
  }
  return {};
}

uint32_t Meeting::PassTurn(Core& core) {
  const InMeeting here(core);
  CheckResident(core, core.launch.blockDim);
  const std::lock_guard lock(mutex_);
  if (passed_[core.index] >= rounds_[core.index]) {
    ThrowFault("block-event", "NotifyNextBlock without a WaitPreBlock before it",
               "Another block takes its turn too early: sums in an order that differs from run to "
               "run. Call both in pairs, equally often in every block.");
  }
  ++passed_[core.index];
  const uint64_t mine = turn_++;
  Tell(core);
  Apply(core.index, UINT64_MAX);
  changed_.notify_all();
  return static_cast<uint32_t>(mine);
}

uint32_t Meeting::Store(Core& core, uint8_t* to, const void* value, uint32_t bytes) {
  const InMeeting here(core);
  const std::lock_guard lock(mutex_);
  Tell(core);
  Apply(core.index, UINT64_MAX);
  std::memcpy(to, value, bytes);
  stored_[to] = {core.index, ++stores_};
  changed_.notify_all();
  return stores_;
}

uint32_t Meeting::Load(Core& core, const uint8_t* from, void* value, uint32_t bytes) {
  const InMeeting here(core);
  // The read was past the data cache, which keeps nothing of it.
  core.CacheClean(reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(from) + bytes);
  std::unique_lock lock(mutex_);
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
    const auto vain = []() -> Vain {
      return {
          "ReadGmByPassDCache reads the same value again and again, and no core is left that could "
          "change it",
          {}};
    };
    Wait(core, lock, passes, vain, true);
  }
  std::memcpy(value, from, bytes);
  const auto writer = stored_.find(from);
  const bool others = writer != stored_.end() && writer->second.core != core.index;
  core.TellRead(value, bytes);
  return others ? writer->second.number : 0;
}

void Meeting::Yield(Core& core) {
  const InMeeting here(core);
  HostThreads::Instance().Blocked();  // the core that is waited for may have yet to begin
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(1));
}

CoreAside& Meeting::Aside(const Core& core) { return asides_[core.index]; }

uint32_t Meeting::NoteStore(const Core& core, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kWord = 4;
  const HoldsLocks holds;
  const std::lock_guard lock(wordMutex_);
  const uint32_t number = wordStores_.load(std::memory_order_relaxed) + 1;
  for (uint64_t at = address / kWord; at * kWord < address + bytes; ++at) {
    Word& word = words_[at];
    word.core = core.index;
    word.number = number;
    std::memcpy(word.old.data(), reinterpret_cast<const void*>(at * kWord), kWord);
  }
  wordStores_.store(number, std::memory_order_relaxed);
  return number;
}

Meeting::Word Meeting::LastStore(uint64_t address, uint32_t bytes) {
  constexpr uint64_t kWord = 4;
  const HoldsLocks holds;
  const std::lock_guard lock(wordMutex_);
  const auto found = words_.find(address / kWord);
  if (found == words_.end() || bytes > found->second.old.size()) {
    return {};
  }
  Word word = found->second;
  std::array<uint8_t, 8> old{};
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint64_t at = address + i;
    const auto part = words_.find(at / kWord);
    old[i] = part != words_.end() && part->second.number == word.number
                 ? part->second.old[at % kWord]
                 : *reinterpret_cast<const uint8_t*>(at);
  }
  word.old = old;
  return word;
}

bool Meeting::MetSince(uint32_t core, const Word& word) const {
  return word.core < met_[core].size() && word.number <= met_[core][word.core];
}

void Meeting::Leave(uint32_t core, bool failed, FaultEnd last) {
  const std::lock_guard lock(mutex_);
  --alive_;
  if (!failed) {
    stands_[core] = std::move(last);
  }
  if (failed && keepGoing_) {
    died_ = dead_[core] = true;
    sets_[core].fill(UINT32_MAX);
  } else {
    failed_ |= failed;
  }
  changed_.notify_all();
}

void Meeting::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

}  // namespace aclsim
