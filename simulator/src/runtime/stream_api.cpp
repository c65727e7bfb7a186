// SPDX-License-Identifier: Apache-2.0
// The aclrt*Stream* functions and the task entry that opbase uses.
#include <atomic>

#include "aclsim/aclsim.h"
#include "engine/options.h"
#include "runtime/callback.h"
#include "runtime/misuse.h"
#include "runtime/state.h"
#include "runtime/stream.h"
#include "runtime/unread.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

int32_t CreateStream(const Api& api, aclrtStream* stream, uint32_t priority, uint32_t flags) {
  std::shared_ptr<Context> context;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(stream, "stream"));
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.Current(&context));
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  const uint64_t id = AddStream(state, context->id, priority, flags, api.caller());
  if (id == 0) {
    return api.Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE,
                    "%zu streams exist, the device has no more; destroy some",
                    state.streams.size());
  }
  *stream = ToHandle(HandleKind::kStream, id);
  return 0;
}

int32_t DestroyStream(const Api& api, aclrtStream handle, bool force) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, "stream"));
  std::shared_ptr<Stream> stream;
  {
    State& state = Global();
    const std::lock_guard lock(state.mutex);
    const auto it = state.streams.find(FromHandle(HandleKind::kStream, handle));
    if (it == state.streams.end()) {
      return RefuseHandle(api, HandleKind::kStream, handle);
    }
    const auto context = state.contexts.find(it->second->contextId());
    if (context != state.contexts.end() && context->second->defaultStream == it->second) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "stream %llu is a default stream; it goes with its context",
                      static_cast<Ull>(it->first));
    }
    if (it->second->OnWorker()) {
      return api.Fail(ACL_ERROR_RT_INTERNAL_ERROR, "called from a task of stream %llu itself",
                      static_cast<Ull>(it->first));
    }
    stream = it->second;
  }
  // A framework destroys what it keeps wherever it is when the process ends.
  if (const std::shared_ptr<Context> current = CurrentContext();
      current != nullptr && current->id != stream->contextId() && !OfFramework(api.caller())) {
    return RefuseContext(api, *stream, *current);
  }
  {
    State& state = Global();
    const std::lock_guard lock(state.mutex);
    if (state.streams.erase(stream->id()) == 0) {  // another thread was first
      return RefuseHandle(api, HandleKind::kStream, handle);
    }
  }
  stream->Close(force);
  Global().pending.Forget(stream->id());
  ForgetReports(stream->id());
  return 0;
}

int32_t Synchronize(const Api& api, aclrtStream handle, int32_t timeoutMs) {
  int32_t error = 0;
  const std::shared_ptr<Stream> stream = FindStream(api, handle, &error);
  return stream == nullptr ? error : SynchronizeStream(api, *stream, timeoutMs);
}

}  // namespace

int32_t SynchronizeStream(const Api& api, Stream& stream, int32_t timeoutMs) {
  const uint64_t ticket = stream.LastTicket();
  if (stream.OnWorker()) {
    return api.Fail(ACL_ERROR_RT_INTERNAL_ERROR,
                    "called from a task of stream %llu, which it would wait for",
                    static_cast<Ull>(stream.id()));
  }
  if (!stream.Wait(ticket, timeoutMs)) {
    return api.Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream %llu still has work after %d ms",
                    static_cast<Ull>(stream.id()), timeoutMs);
  }
  Global().pending.Synchronized(stream.id(), ticket);
  const TaskResult failure = stream.TakeFailure();
  SetUnread(failure.status);
  return failure.status == 0 ? 0 : api.FailText(failure.status, failure.message);
}

namespace {

std::atomic<aclsimDescribeCaller> describeCaller{nullptr};

// The task, whose failure says who asked for it.
std::function<TaskResult()> Signed(std::function<TaskResult()> task) {
  const aclsimDescribeCaller describe = describeCaller;
  if (describe == nullptr) {
    return task;
  }
  char place[512] = "";
  describe(place, sizeof(place));
  if (place[0] == '\0') {
    return task;
  }
  return [task = std::move(task), place = std::string(place)] {
    TaskResult result = task();
    if (result.status != 0) {
      result.message += "\n  launched at " + place;
    }
    return result;
  };
}

}  // namespace

static int32_t Enqueue(void* stream, std::function<TaskResult()> task,
                       const std::vector<DeviceUse>& uses, const std::string& by, bool maybe) {
  return Enter("EnqueueTask", [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<Stream> found = FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    uint64_t ticket = 0;
    error = found->Enqueue(Signed(std::move(task)), Stream::Run::kUnlessFailed, &ticket);
    if (error != 0) {
      return api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(found->id()));
    }
    if (!uses.empty() && CheckedMode()) {
      ReportStreamRaces(
          Global().pending.Add(found->id(), ticket, uses, by, ProgramCaller(), maybe));
    }
    return 0;
  });
}

int32_t EnqueueTask(void* stream, std::function<TaskResult()> task,
                    const std::vector<DeviceUse>& uses, const std::string& by) {
  return Enqueue(stream, std::move(task), uses, by, false);
}

int32_t EnqueueKernel(void* stream, std::function<TaskResult()> task,
                      const std::vector<DeviceUse>& mayUse, const std::string& by) {
  return Enqueue(stream, std::move(task), mayUse, by, true);
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;
using aclsim::Stream;

extern "C" {

int32_t aclsimSetDescribeCaller(aclsimDescribeCaller describe) {
  aclsim::describeCaller = describe;
  return 0;
}

aclError aclrtCreateStream(aclrtStream* stream) {
  return Enter(__func__, [&](const Api& api) { return aclsim::CreateStream(api, stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::CreateStream(api, stream, priority, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) { return aclsim::DestroyStream(api, stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) { return aclsim::DestroyStream(api, stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) { return aclsim::Synchronize(api, stream, -1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (timeout < -1) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "timeout is %d, want -1 (no limit) or milliseconds", timeout);
    }
    return aclsim::Synchronize(api, stream, timeout);
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(status, "status"));
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    const uint64_t last = found->LastTicket();
    *status = found->DoneTicket() < last ? ACL_STREAM_STATUS_NOT_READY : ACL_STREAM_STATUS_COMPLETE;
    if (*status == ACL_STREAM_STATUS_COMPLETE) {
      aclsim::Global().pending.Synchronized(found->id(), last);
    }
    const aclsim::TaskResult failure = found->Failure();
    return failure.status == 0 ? 0 : api.FailText(failure.status, failure.message);
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(streamId, "streamId"));
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found != nullptr) {
      *streamId = static_cast<int32_t>(found->id());
    }
    return error;
  });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(priority, "priority"));
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found != nullptr) {
      *priority = found->priority();
    }
    return error;
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(flags, "flags"));
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found != nullptr) {
      *flags = found->flags();
    }
    return error;
  });
}

}  // extern "C"
