// SPDX-License-Identifier: Apache-2.0
// Host callbacks in stream order: on a thread that the program subscribed (aclrtLaunchCallback), or
// on the stream's own (aclrtLaunchHostFunc).
#include "runtime/callback.h"

#include <pthread.h>

#include <chrono>
#include <deque>
#include <map>

#include "host/fork.h"
#include "host/lock.h"
#include "host/thrown.h"
#include "runtime/state.h"
#include "runtime/stream.h"

namespace aclsim {

struct Reports {
  struct Callback {
    aclrtCallback function = nullptr;
    void* userData = nullptr;
    bool done = false;
    std::string failure;  // what it threw
  };
  Mutex<6, "callbacks"> mutex;
  Condition changed;
  std::map<uint64_t, uint64_t> threadOfStream;
  std::map<uint64_t, std::deque<std::shared_ptr<Callback>>> waiting;  // by thread
};

namespace {

using Ull = unsigned long long;

// A stream that waits for a callback looks this often whether it is being torn down.
constexpr auto kAbandonPoll = std::chrono::milliseconds(10);

std::shared_ptr<Reports> SharedReports() {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  if (state.reports == nullptr) {
    state.reports = std::make_shared<Reports>();
  }
  return state.reports;
}

bool Subscribed(const Reports& reports, uint64_t thread) {
  for (const auto& [stream, subscriber] : reports.threadOfStream) {
    if (subscriber == thread) {
      return true;
    }
  }
  return false;
}

// Calls a function of the program; returns what is wrong with it.
std::string CallHost(const char* by, void (*function)(void*), void* userData) {
  try {
    function(userData);
    return "";
  } catch (...) {
    return Format(
        "the function that %s was given threw %s; without the simulator an exception that leaves "
        "it ends the process. Next: catch it in the function",
        by, ThrownText().c_str());
  }
}

// Hands the callback to the subscribed thread; runs on the stream's worker.
TaskResult Deliver(Reports& reports, const Stream& stream,
                   const std::shared_ptr<Reports::Callback>& callback, bool block) {
  // Host code that runs now may know what the stream has done so far.
  Global().pending.Synchronized(stream.id(), stream.DoneTicket());
  std::unique_lock lock(reports.mutex);
  const auto subscriber = reports.threadOfStream.find(stream.id());
  if (subscriber == reports.threadOfStream.end()) {
    return {ACL_ERROR_RT_STREAM_NO_CB_REG,
            Format("the thread of stream %llu's callbacks unsubscribed before they ran",
                   static_cast<Ull>(stream.id()))};
  }
  reports.waiting[subscriber->second].push_back(callback);
  reports.changed.notify_all();
  while (block && !callback->done && !stream.abandoned() &&
         reports.threadOfStream.count(stream.id()) != 0) {
    reports.changed.wait_for(lock, kAbandonPoll);
  }
  return callback->failure.empty() ? TaskResult{}
                                   : TaskResult{ACL_ERROR_RT_INTERNAL_ERROR, callback->failure};
}

int32_t LaunchCallback(const Api& api, aclrtCallback function, void* userData, bool block,
                       aclrtStream handle) {
  int32_t error = 0;
  if (function == nullptr) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "fn is null");
  }
  const std::shared_ptr<Stream> stream = FindStream(api, handle, &error);
  if (stream == nullptr) {
    return error;
  }
  const std::shared_ptr<Reports> reports = SharedReports();
  {
    const std::lock_guard lock(reports->mutex);
    if (reports->threadOfStream.count(stream->id()) == 0) {
      return api.Fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                      "no thread runs the callbacks of stream %llu; call "
                      "aclrtSubscribeReport, or use aclrtLaunchHostFunc",
                      static_cast<Ull>(stream->id()));
    }
  }
  auto callback = std::make_shared<Reports::Callback>();
  callback->function = function;
  callback->userData = userData;
  error = stream->Enqueue(
      [=, worker = stream.get()] { return Deliver(*reports, *worker, callback, block); });
  return error == 0
             ? 0
             : api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream->id()));
}

int32_t ProcessReport(const Api& api, int32_t timeoutMs) {
  if (timeoutMs < -1 || timeoutMs == 0) {
    return api.Fail(ACL_ERROR_INVALID_PARAM,
                    "timeout is %d, want -1 (no limit) or milliseconds above 0", timeoutMs);
  }
  const std::shared_ptr<Reports> reports = SharedReports();
  const auto self = static_cast<uint64_t>(pthread_self());
  std::shared_ptr<Reports::Callback> callback;
  {
    std::unique_lock lock(reports->mutex);
    const auto ready = [&] {
      return !reports->waiting[self].empty() || !Subscribed(*reports, self);
    };
    if (!Subscribed(*reports, self)) {
      return api.Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                      "this thread is not subscribed to a stream; aclrtSubscribeReport does that");
    }
    if (timeoutMs < 0) {
      reports->changed.wait(lock, ready);
    } else if (!reports->changed.wait_for(lock, std::chrono::milliseconds(timeoutMs), ready)) {
      return api.Fail(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback within %d ms", timeoutMs);
    }
    auto& mine = reports->waiting[self];
    if (mine.empty()) {
      return api.Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                      "this thread was unsubscribed while it waited");
    }
    callback = mine.front();
    mine.pop_front();
  }
  const uint64_t forks = ForkCount();
  const std::string failure =
      CallHost("aclrtLaunchCallback", callback->function, callback->userData);
  if (ForkCount() != forks) {
    return 0;  // a child: the stream that waits is the parent's
  }
  {
    const std::lock_guard lock(reports->mutex);
    callback->failure = failure;
    callback->done = true;
    reports->changed.notify_all();
  }
  return failure.empty() ? 0 : api.FailText(ACL_ERROR_INTERNAL_ERROR, failure);
}

}  // namespace

void ForgetReports(uint64_t streamId) {
  const std::shared_ptr<Reports> reports = SharedReports();
  const std::lock_guard lock(reports->mutex);
  reports->threadOfStream.erase(streamId);
  reports->changed.notify_all();
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;
using aclsim::Stream;

extern "C" {

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    const auto reports = aclsim::SharedReports();
    const std::lock_guard lock(reports->mutex);
    if (!reports->threadOfStream.emplace(found->id(), threadId).second) {
      return api.Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                      "stream %llu already has a thread; call aclrtUnSubscribeReport first",
                      static_cast<unsigned long long>(found->id()));
    }
    return 0;
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    const auto reports = aclsim::SharedReports();
    const std::lock_guard lock(reports->mutex);
    const auto it = reports->threadOfStream.find(found->id());
    if (it == reports->threadOfStream.end() || it->second != threadId) {
      return api.Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "thread %llu is not subscribed to stream %llu",
                      static_cast<unsigned long long>(threadId),
                      static_cast<unsigned long long>(found->id()));
    }
    reports->threadOfStream.erase(it);
    reports->changed.notify_all();
    return 0;
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return api.Fail(ACL_ERROR_INVALID_PARAM,
                      "blockType is %d, want ACL_CALLBACK_NO_BLOCK (0) or ACL_CALLBACK_BLOCK (1)",
                      static_cast<int>(blockType));
    }
    return aclsim::LaunchCallback(api, fn, userData, blockType == ACL_CALLBACK_BLOCK, stream);
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    if (fn == nullptr) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "fn is null");
    }
    const std::shared_ptr<Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    error = found->Enqueue([=, worker = found.get()] {
      aclsim::Global().pending.Synchronized(worker->id(), worker->DoneTicket());
      std::string failure = aclsim::CallHost("aclrtLaunchHostFunc", fn, args);
      return failure.empty() ? aclsim::TaskResult{}
                             : aclsim::TaskResult{ACL_ERROR_RT_INTERNAL_ERROR, std::move(failure)};
    });
    return error == 0 ? 0
                      : api.Fail(error, "stream %llu takes no more work",
                                 static_cast<unsigned long long>(found->id()));
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return Enter(__func__, [&](const Api& api) { return aclsim::ProcessReport(api, timeout); });
}

}  // extern "C"
