// SPDX-License-Identifier: Apache-2.0
#include "runtime/event.h"

#include <chrono>

#include "engine/options.h"
#include "runtime/errors.h"
#include "runtime/state.h"
#include "runtime/stream.h"
#include "timing/options.h"
#include "timing/profile.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr uint32_t kKnownFlags = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                                 ACL_EVENT_TIME_LINE | ACL_EVENT_DEVICE_USE_ONLY |
                                 ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;
constexpr uint32_t kPlainEvent = 0;
// A stream that waits for an event looks this often whether it is being torn down.
constexpr auto kAbandonPoll = std::chrono::milliseconds(10);

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int32_t CreateEvent(const Api& api, aclrtEvent* event, uint32_t flags, bool reusable) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(event, "event"));
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  std::shared_ptr<Context> context;
  ACLSIM_RETURN_IF_ERROR(api.Current(&context));
  auto made = std::make_shared<Event>();
  made->flags = flags;
  made->caller = api.caller();
  made->reusable = reusable;
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  made->id = ++state.lastId;
  state.events[made->id] = made;
  *event = ToHandle(HandleKind::kEvent, made->id);
  return 0;
}

int32_t CreateFlaggedEvent(const Api& api, aclrtEvent* event, uint32_t flags, bool reusable) {
  if (flags == 0 || (flags & ~kKnownFlags) != 0) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "flag is 0x%x, want ACL_EVENT_* bits (0x%x)", flags,
                    kKnownFlags);
  }
  if ((flags & ACL_EVENT_IPC) != 0) {
    return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "the simulator does not have events shared between processes (ACL_EVENT_IPC). "
                    "Next: synchronise the stream and let the processes tell each other");
  }
  return CreateEvent(api, event, flags, reusable);
}

// Finds both or reports which one is missing.
int32_t FindBoth(const Api& api, aclrtEvent event, aclrtStream stream,
                 std::shared_ptr<Event>* foundEvent, std::shared_ptr<Stream>* foundStream) {
  int32_t error = 0;
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  *foundEvent = FindEvent(api, event, &error);
  if (*foundEvent == nullptr) {
    return error;
  }
  *foundStream = FindStream(api, stream, &error);
  return *foundStream == nullptr ? error : 0;
}

int32_t Enqueue(const Api& api, Stream& stream, Stream::Task task, Stream::Run run,
                uint64_t* ticket = nullptr) {
  const int32_t error = stream.Enqueue(std::move(task), run, ticket);
  return error == 0
             ? 0
             : api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream.id()));
}

TaskResult StreamState(const Stream& stream) {
  TaskResult failure = stream.Failure();
  if (failure.status == 0 && stream.abandoned()) {
    failure = {ACL_ERROR_RT_STREAM_ABORT,
               Format("stream %llu was destroyed before it reached the event",
                      static_cast<Ull>(stream.id()))};
  }
  return failure;
}

int32_t RecordEvent(const Api& api, aclrtEvent event, aclrtStream stream) {
  std::shared_ptr<Event> found;
  std::shared_ptr<Stream> on;
  ACLSIM_RETURN_IF_ERROR(FindBoth(api, event, stream, &found, &on));
  auto record = std::make_shared<EventRecord>();
  const std::lock_guard lock(found->mutex);
  // Runs on the worker of the stream, which outlives its tasks.
  ACLSIM_RETURN_IF_ERROR(Enqueue(
      api, *on,
      [record, worker = on.get()] {
        record->Complete(StreamState(*worker));
        return TaskResult{};
      },
      Stream::Run::kAlways, &record->ticket));
  record->stream = on->id();
  if (CheckedMode()) {
    record->clock = Global().pending.At(on->id(), record->ticket);
  }
  found->latest = record;
  return 0;
}

// Blocks the worker of stream until the record is complete.
TaskResult AwaitRecord(EventRecord& record, const Stream& stream, uint64_t eventId) {
  const WaitLimit limit;
  std::unique_lock lock(record.mutex);
  while (!record.done && !stream.abandoned()) {
    record.changed.wait_for(lock, kAbandonPoll);
    if (!record.done && limit.Over()) {
      return limit.Result(Format("stream %llu waits for event %llu", static_cast<Ull>(stream.id()),
                                 static_cast<Ull>(eventId)));
    }
  }
  if (!record.done || record.failure.status == 0) {
    return {};
  }
  // Going on would compute from data that was never made, and report success.
  return {record.failure.status,
          Format("stream %llu waits for event %llu of a stream that failed: %s",
                 static_cast<Ull>(stream.id()), static_cast<Ull>(eventId),
                 record.failure.message.c_str())};
}

int32_t StreamWaitEvent(const Api& api, aclrtStream stream, aclrtEvent event) {
  std::shared_ptr<Event> found;
  std::shared_ptr<Stream> on;
  ACLSIM_RETURN_IF_ERROR(FindBoth(api, event, stream, &found, &on));
  // Only work that was captured before this call can be waited for, so streams can never wait in a
  // circle.
  const std::shared_ptr<EventRecord> record = found->Latest();
  if (record == nullptr) {
    return 0;
  }
  ++found->pendingWaits;
  uint64_t ticket = 0;
  const int32_t error = Enqueue(
      api, *on,
      [found, record, worker = on.get()] {
        TaskResult result = AwaitRecord(*record, *worker, found->id);
        --found->pendingWaits;
        return result;
      },
      Stream::Run::kAlways, &ticket);
  if (error != 0) {
    --found->pendingWaits;
    return error;
  }
  Global().pending.AddWait(on->id(), ticket, record->stream, record->ticket, record->clock);
  return 0;
}

int32_t ResetEvent(const Api& api, aclrtEvent event, aclrtStream stream) {
  std::shared_ptr<Event> found;
  std::shared_ptr<Stream> on;
  ACLSIM_RETURN_IF_ERROR(FindBoth(api, event, stream, &found, &on));
  if ((found->flags & ACL_EVENT_SYNC) == 0) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "event %llu was created without ACL_EVENT_SYNC and cannot be reset",
                    static_cast<Ull>(found->id));
  }
  return Enqueue(
      api, *on,
      [found, record = found->Latest()] {
        const std::lock_guard lock(found->mutex);
        if (found->latest == record) {  // a later record is not undone
          found->latest = nullptr;
        }
        return TaskResult{};
      },
      Stream::Run::kAlways);
}

bool Complete(Event& event) {
  const std::shared_ptr<EventRecord> record = event.Latest();
  if (record == nullptr) {
    return event.reusable;
  }
  {
    const std::lock_guard lock(record->mutex);
    if (!record->done) {
      return false;
    }
  }
  Global().pending.Synchronized(record->stream, record->ticket);
  return true;
}

int32_t SynchronizeEvent(const Api& api, aclrtEvent event, int32_t timeoutMs) {
  int32_t error = 0;
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  const std::shared_ptr<Event> found = FindEvent(api, event, &error);
  if (found == nullptr) {
    return error;
  }
  if (timeoutMs < -1) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "timeout is %d, want -1 (no limit) or milliseconds",
                    timeoutMs);
  }
  const std::shared_ptr<EventRecord> record = found->Latest();
  if (record == nullptr) {
    return 0;  // nothing captured, nothing to wait for
  }
  std::unique_lock lock(record->mutex);
  const auto done = [&] { return record->done; };
  if (timeoutMs < 0) {
    record->changed.wait(lock, done);
  } else if (!record->changed.wait_for(lock, std::chrono::milliseconds(timeoutMs), done)) {
    return api.Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "event %llu is not reached after %d ms",
                    static_cast<Ull>(found->id), timeoutMs);
  }
  Global().pending.Synchronized(record->stream, record->ticket);
  return record->failure.status == 0
             ? 0
             : api.FailText(record->failure.status, record->failure.message);
}

int32_t Timestamp(const Api& api, aclrtEvent event, const char* argument, int64_t* nanos) {
  int32_t error = 0;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(event, argument));
  const std::shared_ptr<Event> found = FindEvent(api, event, &error);
  if (found == nullptr) {
    return error;
  }
  if (found->flags != kPlainEvent && (found->flags & ACL_EVENT_TIME_LINE) == 0) {
    return api.Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "%s has no time: it was created with flag 0x%x, want ACL_EVENT_TIME_LINE (0x8)",
                    argument, found->flags);
  }
  const std::shared_ptr<EventRecord> record = found->Latest();
  if (record == nullptr) {
    return api.Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "%s was never recorded; call aclrtRecordEvent", argument);
  }
  const std::lock_guard lock(record->mutex);
  if (!record->done) {
    return api.Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                    "%s is not reached yet; call aclrtSynchronizeStream", argument);
  }
  *nanos = record->nanos;
  Global().pending.Synchronized(record->stream, record->ticket);
  return 0;
}

// Returns what `ask` says of a live event.
template <typename Status, typename Ask>
int32_t Query(const Api& api, aclrtEvent event, Status* status, Ask&& ask) {
  int32_t error = 0;
  const std::shared_ptr<Event> found = FindEvent(api, event, &error);
  if (found == nullptr) {
    return error;
  }
  ACLSIM_RETURN_IF_ERROR(api.NotNull(status, "status"));
  *status = ask(*found);
  return 0;
}

}  // namespace

void EventRecord::Complete(const TaskResult& streamFailure) {
  {
    const std::lock_guard lock(mutex);
    done = true;
    // With the timing model on, events tell its time: that of all launches so far, one after the other.
    nanos = ProfileMode() ? ModelledNanos() : NowNanos();
    failure = streamFailure;
  }
  changed.notify_all();
}

std::shared_ptr<EventRecord> Event::Latest() {
  const std::lock_guard lock(mutex);
  return latest;
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;
using aclsim::Event;

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::CreateEvent(api, event, aclsim::kPlainEvent, false);
  });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::CreateFlaggedEvent(api, event, flag, false); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::CreateFlaggedEvent(api, event, flag, true); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<Event> found = aclsim::FindEvent(api, event, &error);
    if (found == nullptr) {
      return error;
    }
    // Tasks that use it hold it until they are done.
    aclsim::State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.events.erase(found->id);
    return 0;
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) { return aclsim::RecordEvent(api, event, stream); });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) { return aclsim::ResetEvent(api, event, stream); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::StreamWaitEvent(api, stream, event); });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::Query(api, event, status, [](Event& found) {
      return aclsim::Complete(found) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                     : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    });
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::Query(api, event, status, [](Event& found) {
      return aclsim::Complete(found) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    });
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::Query(api, event, status, [](Event& found) {
      return found.pendingWaits == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                     : ACL_EVENT_WAIT_STATUS_NOT_READY;
    });
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return Enter(__func__, [&](const Api& api) { return aclsim::SynchronizeEvent(api, event, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::SynchronizeEvent(api, event, timeout); });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int64_t start = 0;
    int64_t end = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(ms, "ms"));
    ACLSIM_RETURN_IF_ERROR(aclsim::Timestamp(api, startEvent, "startEvent", &start));
    ACLSIM_RETURN_IF_ERROR(aclsim::Timestamp(api, endEvent, "endEvent", &end));
    *ms = static_cast<float>(static_cast<double>(end - start) * 1e-6);
    return 0;
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int64_t nanos = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(timestamp, "timestamp"));
    ACLSIM_RETURN_IF_ERROR(aclsim::Timestamp(api, event, "event", &nanos));
    *timestamp = static_cast<uint64_t>(nanos / 1000);
    return 0;
  });
}

}  // extern "C"
