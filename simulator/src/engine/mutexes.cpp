// SPDX-License-Identifier: Apache-2.0
// Lock and Unlock of mutexes, as flags: an Unlock sets one for each other pipe, and the pipe that locks next waits for its own. Whether
// they order enough is the race check's business.
#include "engine/mutexes.h"

#include <optional>

#include "ascendc/types.h"
#include "engine/pipe.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

constexpr uint32_t kOwnIds = 28;  // those behind are the system's
// An Unlock is not told to a pipe that has so many to wait for: it may never lock this mutex.
constexpr uint32_t kMostTold = 4;

constexpr const char* kPairs =
    "Lock and Unlock of an id come in turn, both with the same pipe; otherwise what hardware does "
    "is undefined, and it may hang.";

struct Call {
  Mutexes::One& mutex;
  Pipe pipe;
  SyncEvent event;  // with the place of the call
};

Call CallOf(Core& core, const char* name, int32_t pipe, uint8_t id) {
  core.instruction = name;
  if (id >= kMutexIds) {
    ThrowFault("mutex-use", Format("%s of mutex %u, and there are %u", name, id, kMutexIds),
               "Hardware would take another one. Take ids from AllocMutexID, or 0 to 27.");
  }
  const Pipe of = OwnPipe(core, pipe).value_or(Pipe::kScalar);
  SyncEvent event = core.MakeSync(SyncEvent::Kind::kSet, of, of, 0);
  event.name = name;
  return {core.mutexes.each[id], of, event};
}

void HintReserved(Core& core, uint8_t id, const SyncEvent& event) {
  if (id < kOwnIds || core.mutexes.each[id].allocated || !core.Observed() ||
      !core.IsFirst("mutex-use", id, 0)) {
    return;
  }
  Finding finding;
  finding.kind = "mutex-use";
  finding.severity = Severity::kHint;
  finding.at = core.PlaceOf(event.name, event.from, event.site, "");
  finding.detail =
      Format("mutex %u is one of those that the system keeps for itself, 28 to 31", id);
  finding.advice = "Take ids from AllocMutexID, or 0 to 27.";
  core.Find(std::move(finding));
}

// Tells the pipes that may lock it next.
void Unlock(Core& core, Mutexes::One* mutex, uint8_t id, SyncEvent event) {
  event.from = mutex->pipe;
  for (size_t at = 0; at < kPipes; ++at) {
    const auto next = static_cast<Pipe>(at);
    if (next == mutex->pipe || !HasPipe(core.kind, next)) {
      continue;
    }
    mutex->behind[at] = mutex->unlocked[at] >= kMostTold;
    if (!mutex->behind[at]) {
      event.to = next;
      event.flag = MutexFlag(id, next);
      OrderPipes(core, event);
      event.further = true;
      ++mutex->unlocked[at];
    }
  }
  mutex->locked = false;
  mutex->site = event.site;
}

}  // namespace

void LockMutex(int32_t pipe, uint8_t id) try {
  Core& core = Core::Current();
  auto [mutex, own, event] = CallOf(core, "Mutex::Lock", pipe, id);
  HintReserved(core, id, event);
  if (mutex.locked) {
    core.GoOn(core.FaultAt("mutex-use", event.site, own, "Mutex::Lock",
                           Format("Lock of mutex %u, which %s has locked and not unlocked", id,
                                  PipeName(mutex.pipe)),
                           kPairs, {mutex.site}),
              "the mutex is unlocked before");
    Unlock(core, &mutex, id, event);
  }
  const auto at = static_cast<size_t>(own);
  event.to = own;
  event.from = mutex.pipe;
  event.flag = MutexFlag(id, own);
  if (mutex.behind[at]) {
    // Some Unlock had no flag for this pipe: it waits for the one that had the mutex, as that is now.
    SyncEvent set = event;
    set.kind = SyncEvent::Kind::kSet;
    set.further = true;
    OrderPipes(core, set);
    ++mutex.unlocked[at];
    mutex.behind[at] = false;
  }
  event.kind = SyncEvent::Kind::kWait;
  for (; mutex.unlocked[at] > 0; --mutex.unlocked[at]) {
    OrderPipes(core, event);
    event.further = true;
  }
  mutex.locked = true;
  mutex.pipe = own;
  mutex.site = event.site;
}
ACLSIM_SKIPS_FAULTS()

void UnlockMutex(int32_t pipe, uint8_t id) try {
  Core& core = Core::Current();
  auto [mutex, own, event] = CallOf(core, "Mutex::Unlock", pipe, id);
  if (!mutex.locked || mutex.pipe != own) {
    const std::string found =
        mutex.locked ? Format("which %s has locked", PipeName(mutex.pipe)) : "which is not locked";
    core.GoOn(
        core.FaultAt("mutex-use", event.site, own, "Mutex::Unlock",
                     Format("Unlock of mutex %u for %s, %s", id, PipeName(own), found.c_str()),
                     kPairs, mutex.site == 0 ? std::vector<uint32_t>{} : std::vector{mutex.site}),
        "nothing is unlocked here");
    return;
  }
  Unlock(core, &mutex, id, event);
}
ACLSIM_SKIPS_FAULTS()

uint8_t AllocMutex() try {
  Core& core = Core::Current();
  core.instruction = "AllocMutexID";
  for (uint32_t id = 0; id < kOwnIds; ++id) {
    if (!core.mutexes.each[id].allocated) {
      core.mutexes.each[id].allocated = true;
      return static_cast<uint8_t>(id);
    }
  }
  ThrowFault("mutex-use", Format("AllocMutexID, and all %u are allocated", kOwnIds),
             "Hardware would hand out ids that do not exist. Give ids back with ReleaseMutexID.");
}
ACLSIM_SKIPS_FAULTS(0)

void ReleaseMutex(uint8_t id) try {
  Core& core = Core::Current();
  core.instruction = "ReleaseMutexID";
  if (id >= kMutexIds || !core.mutexes.each[id].allocated) {
    ThrowFault("mutex-use", Format("ReleaseMutexID of mutex %u, which is not allocated", id),
               "Release what AllocMutexID gave, once.");
  }
  core.mutexes.each[id].allocated = false;
}
ACLSIM_SKIPS_FAULTS()

void CheckMutexesUnlocked(Core& core) {
  for (uint32_t id = 0; id < kMutexIds; ++id) {
    if (const Mutexes::One& mutex = core.mutexes.each[id]; mutex.locked) {
      core.GoOn(core.FaultAt("mutex-use", mutex.site, mutex.pipe, "Mutex::Lock",
                             Format("mutex %u is never unlocked", id),
                             "It stays locked for the next kernel, which may wait forever. Pair "
                             "each Lock with an Unlock.",
                             {}),
                "left as it is at the end");
    }
  }
}

}  // namespace aclsim
