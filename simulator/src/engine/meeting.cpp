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
constexpr uint32_t kMostSets = 15;     // of one cross-core flag without a wait

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

uint32_t Meeting::SendersOf(const Core& core, uint8_t mode, uint16_t flag) {
  const uint32_t group = core.launch.GroupOf(core.index);
  const bool cube = core.kind == CoreKind::kCube;
  if (mode == kOneVector) {
    const bool second = cube ? flag >= kFlags : core.launch.SubOf(core.index) == 1;
    const auto first = cube ? FlagSenders::kCubeToFirst : FlagSenders::kFirstToCube;
    return FlagSenders::InGroup(group, static_cast<FlagSenders::Who>(first + second));
  }
  return mode == 0 ? FlagSenders::AllOf(core.kind)
         : mode == 1
             ? FlagSenders::InGroup(group, FlagSenders::kPeers)
             : FlagSenders::InGroup(group, cube ? FlagSenders::kCube : FlagSenders::kVectors);
}

uint8_t Meeting::ModeOf(uint32_t senders) {
  if (senders < 2) {
    return 0;
  }
  switch (FlagSenders::WhoOf(senders)) {
    case FlagSenders::kPeers:
      return 1;
    case FlagSenders::kCubeToFirst:
    case FlagSenders::kFirstToCube:
      return kChannel;
    case FlagSenders::kCubeToSecond:
    case FlagSenders::kSecondToCube:
      return kChannel + 1;
    default:
      return 2;
  }
}

template <typename Do>
void Meeting::ForEachSender(uint32_t senders, Do&& act) const {
  if (senders >= 2 && ModeOf(senders) >= kChannel) {
    const FlagSenders::Who who = FlagSenders::WhoOf(senders);
    const bool cube = who == FlagSenders::kCubeToFirst || who == FlagSenders::kCubeToSecond;
    const uint32_t first = FlagSenders::GroupOf(senders) * launch_.PerGroup();
    const auto sub = static_cast<uint32_t>(ModeOf(senders) - kChannel);
    act(cube ? first : first + launch_.group.cubes + sub);
    return;
  }
  const bool cubes = senders < 2 ? senders == 1 : FlagSenders::WhoOf(senders) == FlagSenders::kCube;
  const uint32_t first = senders < 2 ? 0 : FlagSenders::GroupOf(senders) * launch_.PerGroup();
  const uint32_t end = senders < 2 ? launch_.Cores() : first + launch_.PerGroup();
  for (uint32_t core = first; core < end; ++core) {
    if (!launch_.Mixed() || (launch_.KindOf(core) == CoreKind::kCube) == cubes) {
      act(core);
    }
  }
}

std::vector<uint32_t> Meeting::Senders(uint32_t senders) const {
  std::vector<uint32_t> cores;
  ForEachSender(senders, [&](uint32_t core) { cores.push_back(core); });
  return cores;
}

std::vector<uint32_t> Meeting::Receivers(uint32_t senders) const {
  const auto to = [&](FlagSenders::Who who) {
    return Senders(FlagSenders::InGroup(FlagSenders::GroupOf(senders), who));
  };
  if (ModeOf(senders) < 2) {
    return Senders(senders);
  }
  switch (FlagSenders::WhoOf(senders)) {
    case FlagSenders::kCube:
      return to(FlagSenders::kVectors);
    case FlagSenders::kCubeToFirst:
      return to(FlagSenders::kFirstToCube);
    case FlagSenders::kCubeToSecond:
      return to(FlagSenders::kSecondToCube);
    default:
      return to(FlagSenders::kCube);
  }
}

std::vector<uint32_t> Meeting::SendersFor(uint32_t core) const {
  const CoreKind kind = launch_.KindOf(core);
  std::vector<uint32_t> senders = {FlagSenders::AllOf(kind)};
  if (launch_.Mixed()) {
    const uint32_t group = launch_.GroupOf(core);
    const bool cube = kind == CoreKind::kCube;
    senders.push_back(
        FlagSenders::InGroup(group, cube ? FlagSenders::kVectors : FlagSenders::kCube));
    if (!cube && launch_.group.vectors > 1) {
      senders.push_back(FlagSenders::InGroup(group, FlagSenders::kPeers));
    }
  }
  return senders;
}

// Those whose sets a wait of this mode may take.
std::vector<uint32_t> Meeting::SendersFor(uint32_t core, uint8_t mode, uint16_t flag) const {
  if (mode != kOneVector) {
    return SendersFor(core);
  }
  const bool cube = launch_.KindOf(core) == CoreKind::kCube;
  const uint32_t second = cube ? flag / kFlags : launch_.SubOf(core);
  const auto first = cube ? FlagSenders::kFirstToCube : FlagSenders::kCubeToFirst;
  return {FlagSenders::InGroup(launch_.GroupOf(core),
                               static_cast<FlagSenders::Who>(first + second % 2))};
}

uint64_t Meeting::Raised(uint32_t senders, size_t flag) const {
  uint64_t least = UINT32_MAX;
  const uint8_t mode = ModeOf(senders);
  ForEachSender(senders,
                [&](uint32_t core) { least = std::min<uint64_t>(least, sets_[core][mode][flag]); });
  return least;
}

// A counter overflows where nothing that the core has waited for says that the waits for its earlier sets are over.
void Meeting::CheckCounter(Core& core, uint32_t senders, size_t flag) {
  const uint8_t mode = ModeOf(senders);
  const size_t counter = CounterOf(mode, flag);
  const uint32_t sets = sets_[core.index][mode][flag];
  if (mode == 0) {
    if (sets - waits_[core.index][counter] >= kMostSets) {
      PassFault(
          "cross-core-flag",
          Format("CrossCoreSetFlag of flag %zu, set %u times without a wait", flag, kMostSets),
          "Hardware's counter overflows. Pair each CrossCoreSetFlag with a CrossCoreWaitFlag.",
          "counted without an end");
    }
    return;
  }
  const uint32_t first = launch_.GroupOf(core.index) * launch_.PerGroup();
  for (const uint32_t other : Receivers(senders)) {
    const uint32_t waits = other == core.index ? waits_[other][counter]
                                               : known_[core.index][other - first].waits[counter];
    if (sets == waits + kMostSets) {  // once
      PassFault("cross-core-flag",
                Format("%s sets flag %u (mode %u) for the %uth time, and nothing that it has "
                       "waited for says that %s has waited for more than %u of them",
                       launch_.NameOf(core.index).c_str(), IdOf(senders, flag), NameOfMode(mode),
                       sets + 1, launch_.NameOf(other).c_str(), waits),
                "Hardware's counter holds 15 and overflows where the other core is slow: an "
                "exception, or a hang. Let the other core answer by a flag of its own at least "
                "every 15 sets.",
                "counted without an end");
    }
  }
}

void Meeting::SetFlag(Core& core, uint8_t given, uint16_t flag) {
  const InMeeting here(core);
  const size_t slot = flag % kFlags;
  const uint32_t senders = SendersOf(core, given, flag);
  const size_t mode = ModeOf(senders);
  std::unique_lock lock(mutex_);
  CheckCounter(core, senders, slot);
  ++sets_[core.index][mode][slot];
  if (launch_.Mixed()) {
    const size_t counter = CounterOf(mode, slot);
    setStacks_[core.index][counter] = core.sites.Stack(core.crossCoreSite[counter]);
    Knowledge knows = known_[core.index];
    knows[core.index % launch_.PerGroup()] = {waits_[core.index], handed_[core.index]};
    knownAtSet_[core.index][mode][slot].push_back(std::move(knows));
  }
  Tell(core);
  told_[core.index][mode][slot].push_back(applied_[core.index] + atomics_[core.index].size());
  const std::vector<uint32_t> together = Senders(senders);
  const bool complete = std::ranges::all_of(
      together, [&](uint32_t each) { return dead_[each] || !told_[each][mode][slot].empty(); });
  for (const uint32_t each : turns_) {
    if (complete && std::ranges::binary_search(together, each) &&
        !told_[each][mode][slot].empty()) {
      Apply(each, told_[each][mode][slot].front());
      told_[each][mode][slot].erase(told_[each][mode][slot].begin());
    }
  }
  lock.unlock();
  if (complete) {  // nobody waits for less
    changed_.notify_all();
  }
}

// The core learns what the cores of its AI core knew when they raised its counter.
void Meeting::Learn(const Core& core, uint32_t senders, size_t flag, uint32_t number) {
  for (const uint32_t other : Senders(senders)) {
    const std::vector<Knowledge>& told = knownAtSet_[other][ModeOf(senders)][flag];
    if (launch_.GroupOf(other) != launch_.GroupOf(core.index) || number >= told.size()) {
      continue;
    }
    for (size_t i = 0; i < told[number].size(); ++i) {
      Known& known = known_[core.index][i];
      for (size_t each = 0; each < kCounters; ++each) {
        known.waits[each] = std::max(known.waits[each], told[number][i].waits[each]);
      }
      known.handed = std::max(known.handed, told[number][i].handed);
    }
  }
}

void Meeting::HandOver(Core& core, std::shared_ptr<Handover> handover) {
  const InMeeting here(core);
  const std::lock_guard lock(mutex_);
  handover->number = ++handed_[core.index];
  onTheWay_[handover->to].push_back(std::move(handover));
}

std::vector<std::shared_ptr<const Handover>> Meeting::Receive(const Core& core) {
  if (!launch_.Mixed()) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Handover>>& all = onTheWay_[core.index];
  const auto isKnown = [&](const std::shared_ptr<const Handover>& one) {
    return one->number <= known_[core.index][one->from % launch_.PerGroup()].handed;
  };
  const auto first = std::stable_partition(all.begin(), all.end(), std::not_fn(isKnown));
  std::vector<std::shared_ptr<const Handover>> known(first, all.end());
  all.erase(first, all.end());
  std::ranges::sort(known, {}, [](const auto& one) { return std::pair(one->from, one->number); });
  return known;
}

Meeting::Vain Meeting::FlagInVain(const Core& core, const std::vector<uint32_t>& all,
                                  uint16_t flag) const {
  const size_t slot = flag % kFlags;
  std::string text = Format("CrossCoreWaitFlag of flag %u", flag);
  std::vector<uint32_t> absent;
  // Those who have set it at all are more likely to be meant.
  uint32_t chosen = UINT32_MAX;
  for (const uint32_t senders : all) {
    for (const uint32_t other : Senders(senders)) {
      if (sets_[other][ModeOf(senders)][slot] > taken_[core.index][ModeOf(senders)][slot]) {
        chosen = senders;
      } else if (chosen == UINT32_MAX && sets_[other][ModeOf(senders)][slot] > 0) {
        chosen = senders;
      }
    }
  }
  if (chosen == UINT32_MAX && !launch_.Mixed()) {
    return {text + ", which no core sets",
            {},
            "Hardware would hang: add the CrossCoreSetFlag, on every core. A kernel with a half "
            "for the AICs (ASCEND_IS_AIC) that sets it needs a MIX kernel type: "
            "KERNEL_TYPE_MIX_AIC_1_2, or __mix__(1, 2)."};
  }
  text += launch_.Mixed() ? " on " + launch_.NameOf(core.index) : std::string();
  if (chosen == UINT32_MAX) {
    const uint32_t others = all.back() == all[0] ? all[0] : all[1];
    const bool channel = ModeOf(others) >= kChannel;
    absent = Senders(others);
    const bool left = std::ranges::all_of(absent, [&](uint32_t other) { return left_[other]; });
    const std::string names = launch_.NamesOf(absent);
    const char* const gone = left ? "; it has left the kernel" : "";
    return {text + (channel ? Format(", which %s does not set (mode 4%s)", names.c_str(), gone)
                            : Format(", which neither %s (mode 2%s) nor another core for it (mode "
                                     "0%s) sets",
                                     names.c_str(), gone, all.size() > 2 ? ", mode 1" : "")),
            absent,
            channel ? "Hardware would wait forever: a hang. An AIV and its AIC have the same ids, "
                      "but for those of the second AIV: the AIC adds 16 to them. Counters of mode "
                      "4 are not those of the other modes: name mode 4 at both ends."
                    : "Hardware would wait forever: a hang. Set the flag on the other half, with "
                      "this id and as often as it is waited for, also where that half has no "
                      "work."};
  }
  for (const uint32_t other : Senders(chosen)) {
    if (sets_[other][ModeOf(chosen)][slot] <= taken_[core.index][ModeOf(chosen)][slot]) {
      absent.push_back(other);
    }
  }
  text += " waits for " + launch_.NamesOf(absent);
  if (launch_.Mixed()) {
    text += Format(", which has set it %u times with mode %u%s; this is wait number %u",
                   absent.empty() ? 0 : sets_[absent[0]][ModeOf(chosen)][slot],
                   NameOfMode(ModeOf(chosen)),
                   !absent.empty() && left_[absent[0]] ? " and has left the kernel" : "",
                   waits_[core.index][CounterOf(ModeOf(chosen), slot)]);
  }
  return {text, absent};
}

uint32_t Meeting::WaitFlag(Core& core, uint8_t mode, uint16_t flag) {
  const InMeeting here(core);
  const size_t slot = flag % kFlags;
  const std::vector<uint32_t> all = SendersFor(core.index, mode, flag);
  std::unique_lock lock(mutex_);
  const uint32_t mine = ++waits_[core.index][CounterOf(ModeOf(all[0]), slot)];
  const std::function<bool()> passes = [&] {
    uint64_t raised = 0;
    for (const uint32_t senders : all) {
      raised += Raised(senders, slot);
    }
    return raised >= mine;
  };
  Wait(
      core, lock, passes, [&] { return FlagInVain(core, all, flag); }, false,
      launch_.Mixed() ? Format("CrossCoreWaitFlag of flag %u", flag) : "");
  for (const uint32_t senders : all) {
    uint32_t& taken = taken_[core.index][ModeOf(senders)][slot];
    if (Raised(senders, slot) > taken) {
      if (launch_.Mixed()) {
        Learn(core, senders, slot, taken);
      }
      ++taken;
      return senders;
    }
  }
  return all[0];
}

std::vector<Finding> Meeting::LeftFlags() const {
  std::vector<Finding> findings;
  for (uint32_t core = 0; launch_.Mixed() && core < launch_.Cores(); ++core) {
    std::vector<uint32_t> all = SendersFor(core);
    const bool cube = launch_.KindOf(core) == CoreKind::kCube;
    for (uint16_t channel = 0; launch_.group.vectors == 2 && channel < (cube ? 2 : 1); ++channel) {
      all.push_back(SendersFor(core, kOneVector, static_cast<uint16_t>(channel * kFlags))[0]);
    }
    for (const uint32_t senders : all) {
      for (size_t flag = 0; flag < kFlags; ++flag) {
        const uint8_t mode = ModeOf(senders);
        const std::vector<uint32_t> together = Senders(senders);
        const auto sets = [&](uint32_t each) { return sets_[each][mode][flag]; };
        const uint32_t most = *std::ranges::max_element(together, {}, sets);
        if (sets(most) <= taken_[core][mode][flag]) {
          continue;
        }
        const uint32_t least = *std::ranges::min_element(together, {}, sets);
        Finding finding;
        finding.kind = "cross-core-flag";
        finding.op = launch_.opType;
        finding.core = most;
        finding.blockDim = launch_.blockDim;
        finding.at = {"", "CrossCoreSetFlag", "",
                      FindKernelLine(setStacks_[most][CounterOf(mode, flag)])};
        finding.detail =
            sets(most) > sets(least)
                ? Format("%s sets flag %u %u times with mode %u, and %s %u times",
                         launch_.NameOf(most).c_str(), IdOf(senders, flag), sets(most),
                         NameOfMode(mode), launch_.NameOf(least).c_str(), sets(least))
                : Format("%s sets flag %u %u times with mode %u, and %s waits for it %u times",
                         launch_.NamesOf(together).c_str(), IdOf(senders, flag), sets(most),
                         NameOfMode(mode), launch_.NameOf(core).c_str(), taken_[core][mode][flag]);
        finding.advice =
            sets(most) > sets(least)
                ? "The counter of the others goes up when all of them have set it. Set it on each, "
                  "equally often, also where one has no work."
                : "Hardware leaves the counter raised: a later CrossCoreWaitFlag of this id, also "
                  "of the next kernel, does not wait. Pair each CrossCoreSetFlag with a "
                  "CrossCoreWaitFlag on every core whose counter it raises.";
        finding.soc = launch_.soc->name;
        finding.tiling = launch_.tilingText;
        finding.tilingKey = launch_.tilingKey;
        MergeFinding(&findings, std::move(finding));
      }
    }
  }
  return findings;
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
