// SPDX-License-Identifier: Apache-2.0
// A stream: tasks in order on one worker thread.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>

#include "acl/acl_rt.h"
#include "host/lock.h"
#include "runtime/runtime.h"

namespace aclsim {

// The stream and the ticket of the task that runs on this thread; 0: none does.
struct RunningTask {
  uint64_t stream = 0;
  uint64_t ticket = 0;
};
RunningTask TaskOfThread();

// EnqueueTask of a kernel that may use the given memory: what it does use PendingWork::Touched tells when it has run.
int32_t EnqueueKernel(void* stream, std::function<TaskResult()> task,
                      const std::vector<DeviceUse>& mayUse, const std::string& by);

class Stream {
 public:
  using Task = std::function<TaskResult()>;
  // kAlways tasks also run on a stream in error or being torn down: others may wait for what they
  // signal.
  enum class Run { kUnlessFailed, kAlways };

  // caller: where the program made it.
  Stream(uint64_t id, uint64_t contextId, uint32_t priority, uint32_t flags, const void* caller)
      : id_(id), contextId_(contextId), priority_(priority), flags_(flags), caller_(caller) {}
  ~Stream() { Close(true); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  uint64_t id() const { return id_; }
  uint64_t contextId() const { return contextId_; }
  uint32_t priority() const { return priority_; }
  uint32_t flags() const { return flags_; }
  const void* caller() const { return caller_; }

  // aclrtSetStreamAttribute sets these.
  struct Attributes {
    std::array<std::atomic<uint64_t>, 5> values{};  // by aclrtStreamAttr, from 1
    std::atomic<bool> goesOn{false};  // the program has asked for ACL_CONTINUE_ON_FAILURE
    std::array<std::atomic<uint32_t>, 2> coreLimits{};  // by aclrtDevResLimitType; 0: none
  };
  Attributes& attributes() { return attributes_; }

  // Returns 0 or the aclError that refuses the task. *ticket: for Wait.
  int32_t Enqueue(Task task, Run run = Run::kUnlessFailed, uint64_t* ticket = nullptr);
  // True when the task with that ticket and all before it are done; false after timeoutMs
  // (negative: never).
  bool Wait(uint64_t ticket, int32_t timeoutMs);
  // Ticket of the youngest task.
  uint64_t LastTicket() const;
  // Every task up to this ticket is done.
  uint64_t DoneTicket() const;
  bool Busy() const;
  // The first failure of the stream's tasks; it stays until the stream is destroyed.
  TaskResult Failure() const;
  // Does the same for a caller that is told of it: with the option recover, and where the program has asked to continue on failure,
  // the stream works again.
  TaskResult TakeFailure();
  bool OnWorker() const;
  // Tasks that have not begun are not run; tasks that others may wait for are.
  void DropQueued();
  // Forgets the failure.
  void Forgive();

  // No more tasks. force: what has not started is dropped, and waits inside tasks end.
  void Close(bool force);
  // The part of Close(true) that does not wait.
  void Abandon();
  bool abandoned() const { return abandoned_; }

 private:
  struct Item {
    Task task;
    Run run;
  };

  bool StartLocked();
  void Work();

  const uint64_t id_;
  const uint64_t contextId_;
  const uint32_t priority_;
  const uint32_t flags_;
  const void* const caller_;
  mutable Mutex<6, "stream"> mutex_;
  Condition wake_;
  Condition done_;
  std::deque<Item> queue_;
  uint64_t enqueued_ = 0;
  uint64_t completed_ = 0;
  bool started_ = false;
  bool closed_ = false;
  std::atomic<bool> abandoned_{false};
  pthread_t worker_{};
  TaskResult failure_;
  Attributes attributes_;
};

}  // namespace aclsim
