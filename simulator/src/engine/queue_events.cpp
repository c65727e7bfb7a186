// SPDX-License-Identifier: Apache-2.0
#include "engine/queue_events.h"

#include <algorithm>
#include <optional>

#include "ascendc/types.h"
#include "engine/pipe.h"

namespace aclsim {

namespace {

using AscendC::HardEvent;

// Returns the event that the queues in the toolkit have.
std::optional<HardEvent> EventOf(Pipe from, Pipe to) {
  constexpr struct {
    Pipe from, to;
    HardEvent event;
  } kEvents[] = {{Pipe::kMte2, Pipe::kVector, HardEvent::MTE2_V},
                 {Pipe::kVector, Pipe::kMte2, HardEvent::V_MTE2},
                 {Pipe::kVector, Pipe::kMte3, HardEvent::V_MTE3},
                 {Pipe::kMte3, Pipe::kVector, HardEvent::MTE3_V},
                 {Pipe::kMte2, Pipe::kMte3, HardEvent::MTE2_MTE3},
                 {Pipe::kMte3, Pipe::kMte2, HardEvent::MTE3_MTE2},
                 {Pipe::kMte2, Pipe::kMte1, HardEvent::MTE2_MTE1},
                 {Pipe::kMte1, Pipe::kMte2, HardEvent::MTE1_MTE2},
                 {Pipe::kMte1, Pipe::kCube, HardEvent::MTE1_M},
                 {Pipe::kCube, Pipe::kMte1, HardEvent::M_MTE1},
                 {Pipe::kMte1, Pipe::kFix, HardEvent::MTE1_FIX},
                 {Pipe::kFix, Pipe::kMte1, HardEvent::FIX_MTE1},
                 {Pipe::kCube, Pipe::kFix, HardEvent::M_FIX},
                 {Pipe::kFix, Pipe::kCube, HardEvent::FIX_M},
                 {Pipe::kCube, Pipe::kVector, HardEvent::M_V},
                 {Pipe::kVector, Pipe::kCube, HardEvent::V_M},
                 {Pipe::kMte3, Pipe::kMte1, HardEvent::MTE3_MTE1},
                 {Pipe::kMte1, Pipe::kMte3, HardEvent::MTE1_MTE3}};
  for (const auto& entry : kEvents) {
    if (entry.from == from && entry.to == to) {
      return entry.event;
    }
  }
  return std::nullopt;
}

QueueEvent& StateOf(Core& core, const HeldEvent& held) {
  return core.pipes[held.pipe].queueEvents[held.event][static_cast<size_t>(held.id)];
}

bool Take(Core& core, HeldEvent* held, Pipe from, Pipe to) {
  const std::optional<HardEvent> event = EventOf(from, to);
  if (!event) {
    return false;
  }
  held->event = static_cast<uint8_t>(*event);
  held->pipe = core.currentPipe;
  PipeInfo& info = core.pipes[held->pipe];
  for (int32_t id = 0; id < EventIds(core); ++id) {
    QueueEvent& state = info.queueEvents[held->event][static_cast<size_t>(id)];
    if (!state.held && !info.allocated[held->event][static_cast<size_t>(id)]) {
      held->id = static_cast<int8_t>(id);
      state.held = true;
      return true;
    }
  }
  return false;
}

void Report(Core& core, const char* call, Pipe pipe, uint32_t site, uint8_t event, int32_t id,
            const QueueEvent& queue) {
  if (!core.IsFirst("event-id-shared", site, queue.site)) {
    return;
  }
  const char* const name = EventName(event);
  Finding finding;
  finding.kind = "event-id-shared";
  finding.at = core.PlaceOf(call, pipe, site, "");
  finding.related.push_back(core.PlaceOf(queue.call, Pipe::kScalar, queue.site,
                                         "holds the id until the queue has waited for its flag"));
  finding.detail = Format(
      "%s on %s id %d while a queue holds that id: its %s has taken it from TPipe and set "
      "its flag",
      call, name, id, queue.call);
  finding.advice = Format(
      "Undefined on hardware: the flag is set twice, a wait passes too early and a later one "
      "hangs. "
      "Take the id from TPipe: pipe.AllocEventID<HardEvent::%s>() and ReleaseEventID, or "
      "FetchEventID where the wait follows at once.",
      name);
  core.Find(std::move(finding));
}

}  // namespace

void RaiseQueueEvent(Core& core, HeldEvent* held, Pipe from, Pipe to, uint32_t site,
                     const char* call) {
  if (!held->kept && !Take(core, held, from, to)) {
    return;
  }
  QueueEvent& state = StateOf(core, *held);
  state = {true, true, site, call};
  const auto id = static_cast<size_t>(held->id);
  if (const int8_t balance = core.flags[held->event][id]; balance != 0) {
    Report(core, balance > 0 ? "SetFlag" : "WaitFlag", balance > 0 ? from : to,
           core.flagSite[held->event][id], held->event, held->id, state);
  }
}

void LowerQueueEvent(Core& core, HeldEvent* held) {
  if (held->id < 0) {
    return;
  }
  QueueEvent& state = StateOf(core, *held);
  state.up = false;
  if (!held->kept) {
    state.held = false;
    held->id = -1;
  }
}

void KeepQueueEvent(Core& core, HeldEvent* held, Pipe from, Pipe to, bool up) {
  if (Take(core, held, from, to)) {
    held->kept = true;
    StateOf(core, *held) = {true, up, core.sites.Capture(), "InitBuffer"};
  }
}

void ForgetQueueEvents(Core& core, uint32_t pipe) {
  core.pipes[pipe].queueEvents = {};
  for (BufferInfo& info : core.buffers) {
    for (HeldEvent* held : {&info.enQueEvent, &info.freeEvent}) {
      if (held->pipe == pipe) {
        *held = {};
      }
    }
  }
}

void CheckQueueEvents(Core& core, uint8_t event, int32_t id, const SyncEvent& sync) {
  const auto at = static_cast<size_t>(id);
  const auto raised = [&](const PipeInfo& pipe) { return pipe.queueEvents[event][at].up; };
  const auto found = std::find_if(core.pipes.begin(), core.pipes.end(), raised);
  const bool wait = sync.kind == SyncEvent::Kind::kWait;
  // The wait of a pair whose SetFlag has been reported says nothing new.
  if (found == core.pipes.end() || (wait && core.flags[event][at] > 0)) {
    return;
  }
  Report(core, sync.name, wait ? sync.to : sync.from, sync.site, event, id,
         found->queueEvents[event][at]);
}

}  // namespace aclsim
