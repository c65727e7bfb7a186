// SPDX-License-Identifier: Apache-2.0
// Event flags and barriers between pipes, flags and meetings between cores. Whether they order enough is the race check's
// business.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "ascendc/types.h"
#include "engine/flag_numbers.h"
#include "engine/meeting.h"
#include "engine/pipe.h"
#include "engine/scheduler.h"

namespace aclsim {

const char* EventName(uint8_t event) {
  static const char* const kNames[] = {
      "MTE2_MTE1", "MTE1_MTE2", "MTE1_M", "M_MTE1",   "MTE2_V",    "V_MTE2",    "MTE3_V",
      "V_MTE3",    "M_V",       "V_M",    "V_V",      "MTE3_MTE1", "MTE1_MTE3", "MTE1_V",
      "MTE2_M",    "M_MTE2",    "V_MTE1", "M_FIX",    "FIX_M",     "MTE3_MTE2", "MTE2_MTE3",
      "S_V",       "V_S",       "S_MTE2", "MTE2_S",   "S_MTE3",    "MTE3_S",    "MTE2_FIX",
      "FIX_MTE2",  "FIX_S",     "M_S",    "FIX_MTE3", "MTE1_FIX",  "FIX_MTE1",  "FIX_FIX"};
  static_assert(std::size(kNames) == static_cast<size_t>(AscendC::HardEvent::MAX));
  return event < std::size(kNames) ? kNames[event] : "?";
}

namespace {

constexpr const char* kAtTheEnd = "left as it is at the end";

// The pipes that an event orders on a core of that kind. On one with a vector pipe, a pipe that it does not have counts as that one: a
// kernel of a coupled core that does not use the matrix unit may name its pipes.
QueuePipes PipesOfEvent(CoreKind kind, uint8_t event) {
  using Events = std::array<QueuePipes, static_cast<size_t>(AscendC::HardEvent::MAX)>;
  static const auto kTable = [] {
    std::array<Events, 3> table{};
    for (size_t of = 0; of < table.size(); ++of) {
      for (uint8_t i = 0; i < table[of].size(); ++i) {
        const std::string_view name = EventName(i);
        const size_t cut = name.find('_');
        const auto kindOf = static_cast<CoreKind>(of);
        table[of][i] = {PipeOfFlag(name.substr(0, cut), kindOf).value_or(Pipe::kVector),
                        PipeOfFlag(name.substr(cut + 1), kindOf).value_or(Pipe::kVector)};
      }
    }
    return table;
  }();
  return kTable[static_cast<size_t>(kind)][event];
}

// The name of the pipe of an event that a core of that kind lacks; null: it has both.
const char* MissingPipe(CoreKind kind, uint8_t event) {
  using Names = std::array<const char*, static_cast<size_t>(AscendC::HardEvent::MAX)>;
  static const auto kTable = [] {
    std::array<Names, 3> table{};
    for (size_t of = 0; of < table.size(); ++of) {
      for (uint8_t i = 0; i < table[of].size(); ++i) {
        const std::string_view name = EventName(i);
        const size_t cut = name.find('_');
        for (const PipeFacts& pipe : kPipeFacts) {
          const bool named = name.substr(0, cut) == pipe.flag || name.substr(cut + 1) == pipe.flag;
          table[of][i] = named && !pipe.kinds[of] ? pipe.flag : table[of][i];
        }
      }
    }
    return table;
  }();
  return kTable[static_cast<size_t>(kind)][event];
}

void CheckEvent(const Core& core, uint8_t event, int32_t id, const char* call) {
  static_assert(static_cast<int>(AscendC::HardEvent::MAX) <= 40, "flags table");
  if (event == static_cast<uint8_t>(AscendC::HardEvent::MAX)) {
    ThrowFault("event-id-range", Format("%s between two pipes for which no core has a flag", call),
               "The device compiler refuses it, or hardware waits forever. Within one pipe use "
               "pipe_barrier, or PipeBarrier.");
  }
  if (event >= static_cast<uint8_t>(AscendC::HardEvent::MAX) || id < 0 || id >= EventIds(core)) {
    ThrowFault(
        "event-id-range",
        Format("%s<HardEvent::%s> with event id %d, legal are 0..%d", call, EventName(event), id,
               EventIds(core) - 1),
        "Hardware would use another flag. Take the id from TPipe::FetchEventID or AllocEventID.");
  }
  if (const char* const missing = core.soc.coupled ? nullptr : MissingPipe(core.kind, event)) {
    const bool cube = core.kind == CoreKind::kCube;
    ThrowFault(
        "event-id-range",
        Format("%s<HardEvent::%s> on an %s, which has no pipe %s", call, EventName(event),
               cube ? "AIC" : "AIV", missing),
        Format("Hardware waits forever. Keep the flag in the half of the %s, under ASCEND_IS_%s.",
               cube ? "AIVs" : "AICs", cube ? "AIV" : "AIC"));
  }
}

}  // namespace

void OrderPipes(Core& core, SyncEvent event) {
  if (event.from == event.to) {
    // A flag from a pipe to itself is a barrier.
    if (event.kind == SyncEvent::Kind::kSet) {
      event.kind = SyncEvent::Kind::kBarrier;
      core.scheduler->Barrier(event);
    }
  } else if (event.kind == SyncEvent::Kind::kSet) {
    core.scheduler->Set(event);
  } else {
    core.scheduler->Wait(event);
  }
}

void OrderPipes(Core& core, SyncEvent::Kind kind, Pipe from, Pipe to, uint32_t flag) {
  OrderPipes(core, core.MakeSync(kind, from, to, flag));
}

std::string FlagName(uint32_t flag) {
  static_assert(kUnitFlags == static_cast<uint32_t>(AscendC::HardEvent::MAX) * 8);
  if (flag >= kUnitFlags && flag < kEventFlags) {
    return flag % 2 == 0 ? "a unit flag, which Mmad sets" : "a unit flag, which Fixpipe clears";
  }
  if (flag >= kQueueFlags) {
    return (flag - kQueueFlags) % 2 == 0 ? "a queue's EnQue" : "a queue's FreeTensor";
  }
  if (flag >= kEventFlags) {
    return Format("mutex %u", (flag - kEventFlags) / static_cast<uint32_t>(kPipes));
  }
  return Format("%s id %u", EventName(static_cast<uint8_t>(flag / 8)), flag % 8);
}

namespace {

// The last WaitFlag of the event with another id: perhaps it was to have this one.
void ReportSetTwice(Core& core, const SetTwice& twice) {
  const char* const name = EventName(twice.event);
  std::vector<uint32_t> related = {twice.first};
  std::string other;
  if (twice.otherWait != 0) {
    related.push_back(twice.otherWait);
    other = Format("; the last WaitFlag of that event is on id %d", twice.otherId);
  }
  const char* const instruction = core.instruction;
  core.GoOn(
      core.FaultAt("flag-set-twice", twice.second, PipesOfEvent(core.kind, twice.event).from,
                   "SetFlag",
                   Format("SetFlag on %s id %d, which is set and was not waited for%s", name,
                          twice.id, other.c_str()),
                   "Undefined on hardware: the second set is lost and a later WaitFlag hangs. "
                   "Pair each SetFlag with a WaitFlag of the same id.",
                   related),
      "the flag counts both sets");
  core.instruction = instruction;
}

std::vector<SetTwice>::iterator FindSetTwice(Core& core, uint8_t event, int32_t id) {
  return std::ranges::find_if(core.meeting->Aside(core).setTwice, [&](const SetTwice& twice) {
    return twice.event == event && twice.id == id;
  });
}

// As many waits as sets have followed each other: the documents forbid it, but kernels that count on flags that count are in use.
void HintCounted(Core& core, const SetTwice& twice) {
  const char* const name = EventName(twice.event);
  if (!core.Observed() || !core.IsFirst("flag-set-twice", twice.second, twice.first)) {
    return;
  }
  Finding finding;
  finding.kind = "flag-set-twice";
  finding.severity = Severity::kHint;
  finding.at = core.PlaceOf("SetFlag", PipesOfEvent(core.kind, twice.event).from, twice.second, "");
  finding.related.push_back(core.PlaceOf("SetFlag", PipesOfEvent(core.kind, twice.event).from,
                                         twice.first, "has set it before"));
  finding.detail =
      Format("SetFlag on %s id %d, which is set and was not waited for; as many WaitFlags follow",
             name, twice.id);
  finding.advice =
      "The documents forbid a second set before the wait. The simulator lets flags count. Give "
      "each "
      "its own id, by AllocEventID: FetchEventID returns the same one again.";
  core.Find(std::move(finding));
}

}  // namespace

void ReportSetTwice(Core& core, std::optional<uint8_t> event) {
  const auto first =
      std::ranges::find_if(core.meeting->Aside(core).setTwice,
                           [&](const SetTwice& twice) { return !event || twice.event == *event; });
  if (first != core.meeting->Aside(core).setTwice.end()) {
    const SetTwice twice = *first;
    core.meeting->Aside(core).setTwice.erase(first);
    core.flags[twice.event][static_cast<size_t>(twice.id)] = 0;  // not a leak as well
    ReportSetTwice(core, twice);
  }
}

void CheckFlagsDown(Core& core) {
  while (!core.meeting->Aside(core).setTwice.empty()) {
    ReportSetTwice(core, std::nullopt);
  }
  for (size_t flag = 0; flag < core.crossCore.size(); ++flag) {
    if (core.crossCore[flag] > 0) {
      core.GoOn(core.FaultAt(
                    "cross-core-flag", core.crossCoreSite[flag], Pipe::kScalar, "CrossCoreSetFlag",
                    Format("CrossCoreSetFlag of flag %zu is never waited for", flag),
                    "Hardware leaves the flag's counter raised: a later CrossCoreWaitFlag does "
                    "not wait. Pair each CrossCoreSetFlag with a CrossCoreWaitFlag, on every "
                    "core.",
                    {}),
                kAtTheEnd);
    }
  }
  for (size_t event = 0; event < core.flags.size(); ++event) {
    for (size_t id = 0; id < core.flags[event].size(); ++id) {
      if (core.flags[event][id] > 0) {
        const uint32_t last = core.flagSite[event][id];
        KernelFault fault =
            core.FaultAt("flag-leak", last, Pipe::kScalar, "SetFlag",
                         Format("SetFlag on %s id %zu is never waited for",
                                EventName(static_cast<uint8_t>(event)), id),
                         "The flag stays set for the next kernel, whose first WaitFlag then does "
                         "not wait. Pair each SetFlag with a WaitFlag.",
                         {});
        if (const uint32_t first = core.firstSet[event][id]; first != last) {
          // A first SetFlag that stands before a loop shows that the wait after the loop is missing.
          fault.related.push_back({core.sites.Stack(first), "SetFlag", "is the first of this id"});
        }
        core.GoOn(std::move(fault), kAtTheEnd);
      }
    }
  }
}

void SetFlagEvent(uint8_t event, int32_t id) try {
  Core& core = Core::Current();
  core.instruction = "SetFlag";
  CheckEvent(core, event, id, "SetFlag");
  const auto [from, to] = PipesOfEvent(core.kind, event);
  int8_t& balance = core.flags[event][static_cast<size_t>(id)];
  uint32_t& site = core.flagSite[event][static_cast<size_t>(id)];
  SyncEvent sync = core.MakeSync(SyncEvent::Kind::kSet, from, to, EventFlag(event, id));
  if (balance > 0) {
    constexpr int8_t kMost = 100;
    const auto known = FindSetTwice(core, event, id);
    if (known == core.meeting->Aside(core).setTwice.end()) {
      const auto [wait, waitId] = core.meeting->Aside(core).lastWait[event];
      const bool other = wait != 0 && waitId != id;
      core.meeting->Aside(core).setTwice.push_back(
          {event, id, site, sync.site, other ? wait : 0, waitId});
    } else if (known->waited || balance >= kMost) {
      const SetTwice twice = *known;
      core.meeting->Aside(core).setTwice.erase(known);
      ReportSetTwice(core, twice);
    }
    if (balance >= kMost) {
      return;
    }
  }
  CheckQueueEvents(core, event, id, sync);
  ++balance;
  site = sync.site;
  if (uint32_t& first = core.firstSet[event][static_cast<size_t>(id)]; first == 0) {
    first = site;
  }
  OrderPipes(core, sync);
}
ACLSIM_SKIPS_FAULTS()

void WaitFlagEvent(uint8_t event, int32_t id) try {
  Core& core = Core::Current();
  core.instruction = "WaitFlag";
  CheckEvent(core, event, id, "WaitFlag");
  const auto [from, to] = PipesOfEvent(core.kind, event);
  int8_t& balance = core.flags[event][static_cast<size_t>(id)];
  uint32_t& site = core.flagSite[event][static_cast<size_t>(id)];
  SyncEvent sync = core.MakeSync(SyncEvent::Kind::kWait, from, to, EventFlag(event, id));
  if (balance < 0) {
    core.GoOn(core.FaultAt("flag-wait-twice", sync.site, to, "WaitFlag",
                           Format("WaitFlag on %s id %d, which another WaitFlag already waits for",
                                  EventName(event), id),
                           "Hardware clears the flag at the first wait and hangs in the second. "
                           "Pair each WaitFlag with a SetFlag.",
                           {site}),
              "nothing waits here");
    return;
  }
  CheckQueueEvents(core, event, id, sync);
  --balance;
  site = sync.site;
  core.meeting->Aside(core).lastWait[event] = {sync.site, id};
  if (!core.meeting->Aside(core).setTwice.empty()) {
    if (const auto twice = FindSetTwice(core, event, id);
        twice != core.meeting->Aside(core).setTwice.end()) {
      twice->waited = true;
      if (balance == 0) {
        HintCounted(core, *twice);
        core.meeting->Aside(core).setTwice.erase(twice);
      }
    }
  }
  OrderPipes(core, sync);
}
ACLSIM_SKIPS_FAULTS()

static int32_t FreeEvent(Core& core, uint32_t pipe, uint8_t event) {
  CheckEvent(core, event, 0, "FetchEventID");
  for (int32_t id = 0; id < EventIds(core); ++id) {
    // It plays no part whether its flag is set: two fetched ids are one as long as none is allocated.
    const auto at = static_cast<size_t>(id);
    const PipeInfo& info = core.pipes[pipe];
    if (!info.allocated[event][at] && !info.queueEvents[event][at].held) {
      return id;
    }
  }
  ThrowFault("event-id-exhausted", Format("no free id for %s", EventName(event)),
             "Hardware would reuse an id that is in flight. Release ids with ReleaseEventID.");
}

int32_t FetchEvent(uint32_t pipe, uint8_t event) try {
  return FreeEvent(Core::Current(), pipe, event);
}
ACLSIM_SKIPS_FAULTS(0)

int32_t AllocEvent(uint32_t pipe, uint8_t event) try {
  Core& core = Core::Current();
  const int32_t id = FreeEvent(core, pipe, event);
  core.pipes[pipe].allocated[event][static_cast<size_t>(id)] = true;
  core.pipes[pipe].allocatedSite[event][static_cast<size_t>(id)] = core.sites.Capture();
  return id;
}
ACLSIM_SKIPS_FAULTS(0)

namespace {

void HintEventPair(Core& core, const char* call, uint32_t site, std::string detail,
                   const char* advice) {
  if (!core.Observed() || !core.IsFirst("event-id-pair", site, 0)) {
    return;
  }
  Finding finding;
  finding.kind = "event-id-pair";
  finding.severity = Severity::kHint;
  finding.at = core.PlaceOf(call, Pipe::kScalar, site, "");
  finding.detail = std::move(detail);
  finding.advice = advice;
  core.Find(std::move(finding));
}

}  // namespace

void CheckEventsReleased(Core& core, uint32_t pipe) {
  const PipeInfo& info = core.pipes[pipe];
  for (size_t event = 0; event < info.allocated.size(); ++event) {
    for (size_t id = 0; id < info.allocated[event].size(); ++id) {
      if (info.allocated[event][id]) {
        HintEventPair(
            core, "AllocEventID", info.allocatedSite[event][id],
            Format("id %zu of %s is never released", id, EventName(static_cast<uint8_t>(event))),
            "There are few ids, and queues take theirs from the same ones. Call "
            "ReleaseEventID after the last WaitFlag.");
      }
    }
  }
}

void ReleaseEvent(uint32_t pipe, uint8_t event, int32_t id) try {
  Core& core = Core::Current();
  core.instruction = "ReleaseEventID";
  CheckEvent(core, event, id, "ReleaseEventID");
  if (!core.pipes[pipe].allocated[event][static_cast<size_t>(id)]) {
    HintEventPair(core, "ReleaseEventID", core.sites.Capture(),
                  Format("id %d of %s does not come from AllocEventID, or was released before", id,
                         EventName(event)),
                  "Whoever has it loses it: a queue, or a later AllocEventID. Release what "
                  "AllocEventID gave, once.");
  }
  core.pipes[pipe].allocated[event][static_cast<size_t>(id)] = false;
  core.pipes[pipe].queueEvents[event][static_cast<size_t>(id)].held = false;
}
ACLSIM_SKIPS_FAULTS()

std::optional<Pipe> OwnPipe(const Core& core, int32_t pipe) {
  const std::optional<Pipe> known = pipe == PIPE_V      ? std::optional(Pipe::kVector)
                                    : pipe == PIPE_M    ? std::optional(Pipe::kCube)
                                    : pipe == PIPE_MTE1 ? std::optional(Pipe::kMte1)
                                    : pipe == PIPE_MTE2 ? std::optional(Pipe::kMte2)
                                    : pipe == PIPE_MTE3 ? std::optional(Pipe::kMte3)
                                    : pipe == PIPE_FIX  ? std::optional(Pipe::kFix)
                                                        : std::nullopt;
  return known && HasPipe(core.kind, *known) ? known : std::nullopt;
}

void Barrier(int32_t pipe) try {
  Core& core = Core::Current();
  core.instruction = "PipeBarrier";
  switch (pipe) {
    case PIPE_S:
      ThrowFault("barrier-pipe", "PipeBarrier<PIPE_S> does not exist",
                 "Hardware hangs. Use a flag to or from the scalar pipe.");
    case PIPE_ALL:
      core.scheduler->Drain();
      core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
      return;
    default:
      if (const std::optional<Pipe> own = OwnPipe(core, pipe);
          own && (core.Observed() || core.Defers(*own))) {
        core.scheduler->Barrier(core.MakeSync(SyncEvent::Kind::kBarrier, *own, *own, 0));
      }
      return;
  }
}
ACLSIM_SKIPS_FAULTS()

// --- between cores ----------------------------------------------------------------------------------------------------

namespace {

// Mode 4, between an AIC and one of its two AIVs.
void CheckOneVector(const Core& core, uint16_t flag) {
  const KernelLaunch& launch = core.launch;
  if (core.soc.npuArch != 3510) {
    ThrowFault("cross-core-flag",
               Format("%s with mode 4; architecture %u has modes 0, 1 and 2", core.instruction,
                      core.soc.npuArch),
               "Mode 4, between an AIC and one of its AIVs, is Ascend 950's. Use mode 2.");
  }
  if (launch.group.vectors != 2) {
    ThrowFault(
        "cross-core-flag",
        Format("%s with mode 4 on %s of a kernel of %u AIC and %u AIV in each AI core",
               core.instruction, launch.NameOf(core.index).c_str(), launch.group.cubes,
               launch.group.vectors),
        "Mode 4 is of kernels with two AIVs for each AIC: KERNEL_TYPE_MIX_AIC_1_2, or __mix__(1, "
        "2). Use mode 2.");
  }
  constexpr uint16_t kOwn = 16, kKernels = 11;
  const bool cube = core.kind == CoreKind::kCube;
  if (flag >= (cube ? 2 : 1) * kOwn) {
    ThrowFault(
        "cross-core-flag",
        Format("%s with mode 4 of flag %u; an %s has %s", core.instruction, flag,
               cube ? "AIC" : "AIV",
               cube ? "0..10 for its first AIV and 16..26 for the second" : "0..10"),
        "Hardware would use another flag: a hang. An AIV and its AIC have the same ids, but for "
        "those of the second AIV: the AIC adds 16 to them.");
  }
  if (flag % kOwn >= kKernels) {
    PassFault("cross-core-flag",
              Format("%s with mode 4 of flag %u; kernels have 0..10 and, on an AIC for its second "
                     "AIV, 16..26",
                     core.instruction, flag),
              "The documents leave the others to nobody: what comes of them is not said. Take an "
              "id that they name.",
              "counted like any other");
  }
}

// The place of a flag in Core::crossCoreSite.
size_t SiteOf(const Core& core, uint8_t mode, uint16_t flag) {
  if (mode != Meeting::kOneVector) {
    return flag;
  }
  constexpr size_t kOwn = 16;
  return kOwn + (core.kind == CoreKind::kCube ? flag : core.launch.SubOf(core.index) * kOwn + flag);
}

// A wait takes one from a counter, whatever its mode; mode 4 has counters of its own.
void CheckCrossCore(const Core& core, uint8_t mode, uint16_t flag, bool wait) {
  const KernelLaunch& launch = core.launch;
  if (!launch.Mixed()) {
    if (mode != 0 || flag >= core.crossCore.size()) {
      const bool cube = core.kind == CoreKind::kCube;
      ThrowFault(
          "cross-core-flag",
          Format("%s with mode %u and flag %u; a %s kernel has mode 0 and flags 0..%zu",
                 core.instruction, mode, flag, cube ? "cube" : "vector", core.crossCore.size() - 1),
          "Other modes order vector with cube cores, and hardware would use another flag: a "
          "hang. Flags between the two want a MIX kernel: KERNEL_TYPE_MIX_AIC_1_2, or "
          "__mix__(1, 2).");
    }
    return;
  }
  if (mode == Meeting::kOneVector) {
    CheckOneVector(core, flag);
    return;
  }
  if (flag >= core.crossCore.size()) {
    ThrowFault("cross-core-flag",
               Format("%s of flag %u; there are flags 0..%zu", core.instruction, flag,
                      core.crossCore.size() - 1),
               "Hardware would use another flag: a hang.");
  }
  const bool peers = core.kind == CoreKind::kVector && launch.group.vectors > 1;
  if (mode > 2) {
    ThrowFault("cross-core-flag",
               Format("%s with mode %u; there are modes 0, 1 and 2, and 4 on Ascend 950",
                      core.instruction, mode),
               "Hardware would use another mode. Mode 2 is between an AIC and all of its AIVs.");
  }
  if (mode == 1 && !peers && !wait) {
    ThrowFault("cross-core-flag",
               Format("%s with mode 1 on %s of a kernel of %u AIC and %u AIV in each AI core",
                      core.instruction, launch.NameOf(core.index).c_str(), launch.group.cubes,
                      launch.group.vectors),
               "Mode 1 is of the two AIVs of an AI core: nobody's counter goes up, and the wait "
               "hangs. Use mode 2 between AIC and AIV, or mode 0 among all cores of a kind.");
  }
}

constexpr size_t kFirstOfSyncAll = 11;
constexpr size_t kEndOfSyncAll = 15;

bool IsOfSyncAll(size_t flag) { return flag >= kFirstOfSyncAll && flag < kEndOfSyncAll; }

// A flag of a MIX kernel has counters on other cores too, which may be behind or ahead: next to SyncAll and to Matmul objects the kernel does
// not set those that they set, neither before nor after them. Source: CrossCoreSetFlag, constraints.
void ReportSharedFlag(Core& core, size_t flag, uint32_t setSite, const char* owner,
                      const std::string& advice, const std::vector<uint32_t>& related) {
  core.GoOn(
      core.FaultAt("cross-core-flag", setSite, Pipe::kScalar, "CrossCoreSetFlag",
                   Format("flag %zu is set by the kernel, and is one of %s", flag, owner),
                   "Hardware counts both in one: a core passes too early, or hangs. " + advice,
                   related),
      "the two do not meet");
}

void ReportFlagOfSyncAll(Core& core, size_t flag, uint32_t setSite) {
  ReportSharedFlag(core, flag, setSite, "SyncAll's", "Take flags 0 to 10 next to SyncAll.",
                   {core.syncAllSite});
}

// Those of modes 0 to 2 whose AIC serves the AIV's Matmul objects.
void CheckFlagOfMatmul(Core& core, uint16_t flag, uint32_t setSite) {
  const uint32_t objects = core.meeting->Objects(core);
  if (flag < 2 * objects) {
    ReportSharedFlag(core, flag, setSite, "its Matmul objects'",
                     Format("%u Matmul objects have flags 0 to %u: take %u to 10.", objects,
                            2 * objects - 1, 2 * objects),
                     {});
  }
}

void CheckMixedSyncAll(Core& core) {
  core.syncAllSite = core.sites.Capture();
  for (size_t flag = kFirstOfSyncAll; flag < kEndOfSyncAll; ++flag) {
    if (core.crossCoreSite[flag] != 0) {
      ReportFlagOfSyncAll(core, flag, core.crossCoreSite[flag]);
      core.crossCoreSite[flag] = 0;
      core.instruction = "SyncAll";
    }
  }
}

void CheckSyncAllFlags(Core& core) {
  if (core.launch.Mixed()) {
    CheckMixedSyncAll(core);
    return;
  }
  for (size_t flag = kFirstOfSyncAll; flag < kEndOfSyncAll; ++flag) {
    if (core.crossCore[flag] > 0) {
      core.GoOn(core.FaultAt(
                    "cross-core-flag", core.crossCoreSite[flag], Pipe::kScalar, "CrossCoreSetFlag",
                    Format("flag %zu is set and not waited for when SyncAll uses it", flag),
                    "Hardware counts both in one: SyncAll lets a core pass too early. "
                    "Take flags 0 to 10 next to SyncAll.",
                    {core.sites.Capture()}),
                "the two do not meet");
      core.instruction = "SyncAll";
    }
  }
}

}  // namespace

void SyncAllCores(const void* gm, const Ub* ub, uint32_t cores) try {
  Core& core = Core::Current();
  core.instruction = "SyncAll";
  const uint32_t there = core.launch.CoresOf(core.kind);
  const uint32_t participants = cores == 0 ? there : cores;
  if (participants > there) {
    ThrowFault("syncall-cores", Format("usedCores %u, the launch has %u", cores, there),
               core.launch.Mixed()
                   ? "Hardware would wait forever for the others. Pass at most as many as there "
                     "are cores of the kind that calls."
                   : "Hardware would wait forever for the others. Pass at most GetBlockNum().");
  }
  if (core.blockIdx >= participants) {
    ThrowFault(
        "syncall-cores",
        Format("core %u calls SyncAll with usedCores %u, which is a meeting of cores 0 to %u; "
               "the launch has %u",
               core.blockIdx, participants, participants - 1, there),
        "Hardware does not let the others wait for this core: they read what it has yet to "
        "write; and it writes its word behind the workspace. Pass the number of all cores "
        "that call it, or call it on the first usedCores ones only.");
  }
  if (gm != nullptr) {
    // The soft form counts in 32 bytes per core, both in GM and in UB.
    try {
      core.CheckGm(gm, uint64_t{participants} * kBlockBytes, true, "gmWorkspace");
      core.CheckUb(*ub, 0, int64_t{participants} * kBlockBytes, "ubWorkspace");
      core.CheckUbAlign(*ub, kBlockBytes, "ubWorkspace");
    } catch (KernelFault& fault) {
      SkipFault(std::move(fault), "the cores meet without this memory");
    }
  } else {
    CheckSyncAllFlags(core);
  }
  core.scheduler->Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
  if (gm != nullptr) {
    const auto words = reinterpret_cast<uint64_t>(gm);
    core.SyncWords(words, words + uint64_t{participants} * kBlockBytes);
  }
  core.Meets(false);
  core.Meet(kMetAll, core.meeting->SyncAll(core, gm, participants, false));
  core.Receive(Pipe::kScalar);
}
ACLSIM_SKIPS_FAULTS()

void SyncBothKinds() try {
  Core& core = Core::Current();
  core.instruction = "SyncAll";
  if (!core.launch.Mixed()) {
    ThrowFault("syncall-cores", "SyncAll<false> in a kernel of one kind of core",
               "It waits for the other kind, which the launch does not have: a hang. Call "
               "SyncAll(), or make it a MIX kernel: KERNEL_TYPE_MIX_AIC_1_2, or __mix__(1, 2).");
  }
  CheckMixedSyncAll(core);
  core.scheduler->Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
  core.Meets(true);
  core.Meet(kMetAll, core.meeting->SyncAll(core, nullptr, core.launch.Cores(), true));
  core.Receive(Pipe::kScalar);
}
ACLSIM_SKIPS_FAULTS()

void CrossCoreSet(uint8_t mode, int32_t pipe, uint16_t flag) try {
  Core& core = Core::Current();
  core.instruction = "CrossCoreSetFlag";
  CheckCrossCore(core, mode, flag, false);
  // A pipe without work is where the scalar pipe is.
  const Pipe from = OwnPipe(core, pipe).value_or(Pipe::kScalar);
  constexpr uint16_t kFlags = 16;  // of each pair of cores
  const SyncEvent event =
      core.MakeSync(SyncEvent::Kind::kSet, from, Pipe::kScalar, CoreFlag(flag % kFlags),
                    Meeting::SendersOf(core, mode, flag));
  core.crossCore[flag % kFlags] += core.launch.Mixed() ? 0 : 1;  // else Meeting::LeftFlags
  core.crossCoreSite[SiteOf(core, mode, flag)] = event.site;
  if (core.launch.Mixed() && mode != Meeting::kOneVector) {
    CheckFlagOfMatmul(core, flag, event.site);
    if (core.syncAllSite != 0 && IsOfSyncAll(flag)) {
      ReportFlagOfSyncAll(core, flag, event.site);
    }
    core.instruction = "CrossCoreSetFlag";
  }
  core.scheduler->SetForCores(event, [&core, event, mode, flag] {
    core.Sync(event);
    core.meeting->SetFlag(core, mode, flag);
  });
}
ACLSIM_SKIPS_FAULTS()

void CrossCoreWait(uint8_t mode, int32_t pipe, uint16_t flag) try {
  Core& core = Core::Current();
  core.instruction = "CrossCoreWaitFlag";
  CheckCrossCore(core, mode, flag, true);
  core.scheduler->ReachCores();
  // Only Ascend 950 asks for the mode.
  const bool one = mode == Meeting::kOneVector;
  const uint32_t senders = core.meeting->WaitFlag(core, one ? mode : 0, flag);
  constexpr uint16_t kFlags = 16;
  core.crossCore[flag % kFlags] -= core.launch.Mixed() ? 0 : 1;
  core.Sync(core.MakeSync(SyncEvent::Kind::kWait, Pipe::kScalar, Pipe::kScalar,
                          CoreFlag(flag % kFlags), senders));
  // Ascend 950 holds back one pipe.
  const bool onePipe = core.soc.npuArch == 3510;
  core.Receive(onePipe ? OwnPipe(core, pipe).value_or(Pipe::kScalar) : Pipe::kScalar);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
