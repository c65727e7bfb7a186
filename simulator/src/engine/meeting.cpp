// SPDX-License-Identifier: Apache-2.0
#include "engine/meeting.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>

#include "engine/in_meeting.h"
#include "engine/options.h"
#include "engine/shared_reads.h"
#include "host/crash.h"
#include "host/host_threads.h"

namespace aclsim {

namespace {

constexpr uint32_t kMostPolls = 4096;  // of one value before the core waits for another one

void CheckResident(const Core& core, uint32_t participants) {
  const bool mixed = core.launch.Mixed();
  const uint32_t wanted = mixed ? core.launch.blockDim : participants;
  const uint32_t there =
      mixed || core.kind == CoreKind::kCube ? core.soc.aicCores : core.soc.aivCores;
  if (wanted > there) {
    ThrowFault("syncall-cores",
               Format("%s of %u %s, %s has %u", core.instruction, wanted,
                      mixed ? "AI cores" : "cores", core.soc.name.c_str(), there),
               "Hardware runs the rest in a second round, which never starts: a hang. Launch at "
               "most as many blocks as there are cores.");
  }
}

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

Meeting::Meeting(const KernelLaunch& launch) : Meeting(launch, launch.Cores()) {}

Meeting::Meeting(const KernelLaunch& launch, uint32_t cores)
    : launch_(launch),
      turns_(TurnsOfCores(cores)),
      asides_(cores),
      stands_(cores),
      sets_(cores),
      taken_(cores),
      lastModes_(cores),
      waits_(cores),
      setStacks_(launch.Mixed() ? cores : 0),
      known_(launch.Mixed() ? cores : 0, Knowledge(launch.PerGroup())),
      knownAtSet_(launch.Mixed() ? cores : 0),
      handed_(cores),
      onTheWay_(cores),
      polls_(cores),
      met_(cores),
      rounds_(launch.CoresOf(CoreKind::kVector)),
      passed_(launch.CoresOf(CoreKind::kVector)),
      turnStacks_(launch.CoresOf(CoreKind::kVector)),
      atomics_(cores),
      applied_(cores),
      told_(cores),
      alive_(cores),
      left_(cores),
      keepGoing_(KeepGoing()),
      dead_(cores),
      served_(cores),
      waitsFor_(cores) {}

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
      end.instruction = Format("%s: %s", launch_.NameOf(other).c_str(), end.instruction.c_str());
      fault.related.push_back(std::move(end));
    }
  }
  throw fault;
}

void Meeting::Wait(Core& core, std::unique_lock<MeetingMutex>& lock,
                   const std::function<bool()>& passes, const std::function<Vain()>& vain,
                   bool looks, std::string what) {
  if (passes()) {
    return;
  }
  stands_[core.index] = {core.sites.Stack(core.sites.Capture()),
                         what.empty() ? core.instruction : std::move(what), "is where it waits"};
  const bool refused = !HostThreads::Instance().Blocked();
  waiting_.push_back(&passes);
  waitsFor_[core.index] = &passes;
  if (launch_.Mixed() && served_[launch_.GroupOf(core.index) * launch_.PerGroup()].serves) {
    changed_.notify_all();  // its AIC need not wait for it
  }
  const auto noneCanGo = [this] {
    return std::none_of(waiting_.begin(), waiting_.end(),
                        [](const std::function<bool()>* other) { return (*other)(); });
  };
  while (!passes() && !failed_ && !stuck_ && !abandoned_) {
    if (refused && HostThreads::Instance().NoneLeft(waiting_.size()) && noneCanGo()) {
      std::erase(waiting_, &passes);
      waitsFor_[core.index] = nullptr;
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
  waitsFor_[core.index] = nullptr;
  if (passes() && !abandoned_) {
    return;
  }
  // Each core of a deadlock tells its part, however early another one has failed by it: the launch chooses among all of them.
  if ((failed_ && !stuck_) || died_ || abandoned_) {
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

uint32_t Meeting::SyncAll(Core& core, const void* memory, uint32_t participants, bool bothKinds) {
  const InMeeting here(core);
  CheckResident(core, participants);
  std::vector<uint32_t> members;
  for (uint32_t each = 0; each < launch_.Cores(); ++each) {
    const bool own = launch_.KindOf(each) == core.kind && launch_.BlockIdxOf(each) < participants;
    if (bothKinds || own) {
      members.push_back(each);
    }
  }
  const bool ofCubes = launch_.Mixed() && core.kind == CoreKind::kCube;
  const uint32_t who = bothKinds ? 2 : ofCubes ? 1 : 0;
  std::unique_lock lock(mutex_);
  Tell(core);
  const auto [found, isNew] = gatherings_.try_emplace({memory, who});
  Gathering& gathering = found->second;
  if (isNew) {
    gathering.number = memory != nullptr ? static_cast<uint32_t>(gatherings_.size())
                       : who == 0        ? 0
                                         : kNoMemory + who;
    gathering.arrivals.resize(stands_.size());
  }
  const uint32_t mine = ++gathering.arrivals[core.index];
  if (gathering.rounds.size() < mine) {
    gathering.rounds.push_back(
        {core.index, participants, core.sites.Stack(core.lastSite), {}, {}, {}});
  }
  if (launch_.Mixed()) {
    gathering.rounds[mine - 1].waits.resize(stands_.size());
    gathering.rounds[mine - 1].waits[core.index] = waits_[core.index];
    gathering.rounds[mine - 1].handed.resize(stands_.size());
    gathering.rounds[mine - 1].handed[core.index] = handed_[core.index];
  }
  if (StoresSoFar() > 0) {
    std::vector<uint32_t>& stores = gathering.rounds[mine - 1].stores;
    stores.resize(stands_.size());
    stores[core.index] = StoresSoFar();
  }
  const Gathering::Round& round = gathering.rounds[mine - 1];
  if (round.participants != participants) {
    throw KernelFault{
        "syncall-cores",
        Format("SyncAll number %u with usedCores %u on %s, and with usedCores %u on %s", mine,
               participants, launch_.NameOf(core.index).c_str(), round.participants,
               launch_.NameOf(round.core).c_str()),
        "Hardware lets each core wait for as many others as it says: some go on before all are "
        "there. Pass the same number on every core.",
        CaptureStack(),
        {{round.stack, Format("%s: SyncAll", launch_.NameOf(round.core).c_str()), ""}},
        ""};
  }
  const auto there = [&](uint32_t other) {
    return dead_[other] || gathering.arrivals[other] >= mine;
  };
  const std::function<bool()> passes = [&] { return std::ranges::all_of(members, there); };
  if (passes()) {
    Publish();
    changed_.notify_all();
  }
  const auto vain = [&]() -> Vain {
    std::vector<uint32_t> absent;
    std::ranges::remove_copy_if(members, std::back_inserter(absent), there);
    return {Format("SyncAll number %u waits for %s of %zu, which left the kernel or waits "
                   "elsewhere; %zu came",
                   mine, launch_.NamesOf(absent).c_str(), members.size(),
                   members.size() - absent.size()),
            absent};
  };
  Wait(core, lock, passes, vain);
  if (launch_.Mixed()) {
    const uint32_t first = launch_.GroupOf(core.index) * launch_.PerGroup();
    for (uint32_t i = 0; i < launch_.PerGroup(); ++i) {
      Known& known = known_[core.index][i];
      for (size_t flag = 0; flag < kCounters; ++flag) {
        known.waits[flag] =
            std::max(known.waits[flag], gathering.rounds[mine - 1].waits[first + i][flag]);
      }
      known.handed = std::max(known.handed, gathering.rounds[mine - 1].handed[first + i]);
    }
  }
  if (died_ && gathering.published < mine) {
    gathering.published = mine;
    Publish();
  }
  met_[core.index] = gathering.rounds[mine - 1].stores;
  return gathering.number;
}

uint32_t Meeting::SetMark(Core& core, uint64_t slot, std::string name) {
  const InMeeting here(core);
  std::unique_lock lock(mutex_);
  const std::function<bool()> passes = [&] { return marks_.find(slot) == marks_.end(); };
  const auto vain = [&]() -> Vain {
    const Mark& mark = marks_[slot];
    return {Format("IBSet of %s waits for an IBWait that takes the mark that %s has set there",
                   name.c_str(), launch_.NameOf(mark.core).c_str()),
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
  CheckResident(core, core.launch.CoresOf(core.kind));
  std::unique_lock lock(mutex_);
  const uint64_t mine = rounds_[core.blockIdx]++ * rounds_.size() + core.blockIdx;
  turnStacks_[core.blockIdx] = core.sites.Stack(core.sites.Capture());
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
  CheckResident(core, core.launch.CoresOf(core.kind));
  const std::lock_guard lock(mutex_);
  if (passed_[core.blockIdx] >= rounds_[core.blockIdx]) {
    ThrowFault("block-event", "NotifyNextBlock without a WaitPreBlock before it",
               "Another block takes its turn too early: sums in an order that differs from run to "
               "run. Call both in pairs, equally often in every block.");
  }
  ++passed_[core.blockIdx];
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
    const SharedReads reads;
    return poll.address == from && std::memcmp(poll.value.data(), from, bytes) == 0;
  };
  if (!same()) {
    const SharedReads reads;
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
  {
    const SharedReads reads;
    std::memcpy(value, from, bytes);
  }
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

uint32_t Meeting::CleaningsInVain(Core& core, uint64_t line) {
  const InMeeting here(core);
  const std::lock_guard lock(mutex_);  // of Store, by which another core may write there now
  CoreAside& aside = asides_[core.index];
  auto known = std::ranges::find(aside.lines, line, &CoreAside::Line::address);
  if (known == aside.lines.end()) {
    known = aside.lines.begin() + aside.nextLine++ % aside.lines.size();
    known->address = line;
    known->bytes = {};
  }
  const auto* const now = reinterpret_cast<const void*>(line);
  const SharedReads reads;
  if (std::memcmp(known->bytes.data(), now, sizeof(known->bytes)) != 0) {
    std::memcpy(known->bytes.data(), now, sizeof(known->bytes));
    aside.polls = 0;
    return 0;
  }
  return ++aside.polls;
}

CoreAside& Meeting::Aside(const Core& core) { return asides_[core.index]; }

uint32_t Meeting::NoteStore(const Core& core, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kWord = 4;
  const HoldsLocks holds;
  const std::lock_guard lock(wordMutex_);
  const SharedReads reads;
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
  const SharedReads reads;
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
  left_[core] = true;
  if (!failed) {
    stands_[core] = std::move(last);
  }
  if (failed && keepGoing_) {
    died_ = dead_[core] = true;
    for (Counts& ofMode : sets_[core]) {
      ofMode.fill(UINT32_MAX);
    }
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
