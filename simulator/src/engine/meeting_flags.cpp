// SPDX-License-Identifier: Apache-2.0
// Flags between cores: who sets them, who waits for them, what a wait learns, and what was handed over before a set.
#include <algorithm>
#include <utility>

#include "engine/in_meeting.h"
#include "engine/meeting.h"

namespace aclsim {

namespace {

constexpr uint32_t kMostSets = 15;  // a cross-core flag counts so many without a wait

}  // namespace

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

// Modes 0 to 2 count in one: a core sets a flag with another mode only when the waits for its sets of the mode before are over. Sets of modes 0
// and 1 end with the core's own waits, those of mode 2 with the other half's, of which it has heard.
// Source: CrossCoreSetFlag, constraints on one flagId with several modes.
void Meeting::CheckChangeOfMode(Core& core, uint8_t mode, uint16_t flag) {
  const uint8_t before = std::exchange(lastModes_[core.index][flag], mode);
  const uint32_t sets = sets_[core.index][before][flag];
  if (before == mode || sets == 0) {
    return;
  }
  const uint32_t first = launch_.GroupOf(core.index) * launch_.PerGroup();
  for (const uint32_t other : Receivers(SendersOf(core, before, flag))) {
    const bool itself = other == core.index;
    if (before < 2 && !itself) {
      continue;
    }
    const uint32_t waits =
        itself ? waits_[other][flag] : known_[core.index][other - first].waits[flag];
    if (waits < sets) {
      PassFault(
          "cross-core-flag",
          Format("%s sets flag %u with mode %u after %u sets with mode %u; %s has waited for "
                 "%u of them",
                 launch_.NameOf(core.index).c_str(), flag, mode, sets, before,
                 itself ? "it" : ("as far as it knows, " + launch_.NameOf(other)).c_str(), waits),
          "Hardware counts both in one: the wait of one mode takes the set of the other, "
          "and passes too early or hangs. Wait for the sets of one mode before the first "
          "of another, or take another flag.",
          "counted apart");
      return;
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
  if (launch_.Mixed() && mode < kChannel) {
    CheckChangeOfMode(core, static_cast<uint8_t>(mode), static_cast<uint16_t>(slot));
  }
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

namespace {

// Names calls that the code of the other half may hold and that raise no counter. Source: kPipeOfOtherHalf in ascendc/sync.h.
const char* SetsWithoutEffect(const Core& waits) {
  return waits.soc.npuArch != 3510 ? ""
         : waits.kind == CoreKind::kCube
             ? " On an AIV of Ascend 950 a set by PIPE_MTE1, PIPE_M or PIPE_FIX does nothing."
             : " On an AIC of Ascend 950 a set by PIPE_V or PIPE_MTE3 does nothing.";
}

}  // namespace

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
    return {
        text + (channel ? Format(", which %s does not set (mode 4%s)", names.c_str(), gone)
                        : Format(", which neither %s (mode 2%s) nor another core for it (mode "
                                 "0%s) sets",
                                 names.c_str(), gone, all.size() > 2 ? ", mode 1" : "")),
        absent,
        std::string(channel ? "Hardware would wait forever: a hang. An AIV and its AIC have the "
                              "same ids, but for those of the second AIV: the AIC adds 16 to "
                              "them. Counters of mode 4 are not those of the other modes: name "
                              "mode 4 at both ends."
                            : "Hardware would wait forever: a hang. Set the flag on the other "
                              "half, with this id and as often as it is waited for, also where "
                              "that half has no work.") +
            SetsWithoutEffect(core)};
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

}  // namespace aclsim
