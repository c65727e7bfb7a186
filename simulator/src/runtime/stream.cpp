// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream.h"

#include <chrono>
#include <exception>
#include <utility>

#include "findings/printed_findings.h"
#include "host/fork.h"
#include "host/kernel_thread.h"
#include "host/thrown.h"
#include "runtime/errors.h"
#include "runtime/options.h"

namespace aclsim {

namespace {

constexpr size_t kMostMessage = 256 << 10;

thread_local RunningTask running;

// Returns what the findings have not said yet.
void PrintFailure(const std::string& message) {
  if (const std::string text = WithoutPrinted(message); !text.empty()) {
    PrintError(text);
  }
}

}  // namespace

RunningTask TaskOfThread() { return running; }

bool Stream::StartLocked() {
  started_ = StartKernelThread([this] { Work(); }, &worker_);
  return started_;
}

int32_t Stream::Enqueue(Task task, Run run, uint64_t* ticket) {
  const std::lock_guard lock(mutex_);
  if (closed_) {
    return ACL_ERROR_RT_INVALID_HANDLE;
  }
  if (!started_ && !StartLocked()) {
    return ACL_ERROR_RT_NO_STREAM_RESOURCE;
  }
  queue_.push_back({std::move(task), run});
  ++enqueued_;
  if (ticket != nullptr) {
    *ticket = enqueued_;
  }
  wake_.notify_one();
  return 0;
}

void Stream::Work() {
  const uint64_t forks = ForkCount();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return closed_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    Item item = std::move(queue_.front());
    queue_.pop_front();
    const bool run =
        item.run == Run::kAlways ||
        ((failure_.status == 0 || failure_.goesOn || attributes_.goesOn) && !abandoned_);
    lock.unlock();
    TaskResult result;
    if (run) {
      running = {id_, completed_ + 1};
      try {
        result = item.task();
      } catch (...) {
        result = {ACL_ERROR_RT_INTERNAL_ERROR, ThrownText()};
      }
    }
    if (ForkCount() != forks) {
      return;  // the child of a callback that forked: its only thread ends, and with it the process
    }
    running = {};
    item.task = nullptr;  // what it captured is released before the task counts as done
    lock.lock();
    if (result.status != 0 && failure_.status == 0) {
      if (result.message.empty()) {
        result.message = Format("a task failed with error %d", result.status);
      }
      failure_ = std::move(result);
      PrintFailure(failure_.message);
    } else if (result.status != 0) {
      PrintFailure(result.message);
      failure_.goesOn = failure_.goesOn && result.goesOn;
      if (failure_.message.size() < kMostMessage) {
        failure_.message += "\n" + result.message;
      }
    }
    ++completed_;
    done_.notify_all();
  }
}

bool Stream::Wait(uint64_t ticket, int32_t timeoutMs) {
  std::unique_lock lock(mutex_);
  const auto finished = [&] { return completed_ >= ticket; };
  if (timeoutMs < 0) {
    done_.wait(lock, finished);
    return true;
  }
  return done_.wait_for(lock, std::chrono::milliseconds(timeoutMs), finished);
}

uint64_t Stream::LastTicket() const {
  const std::lock_guard lock(mutex_);
  return enqueued_;
}

uint64_t Stream::DoneTicket() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

bool Stream::Busy() const {
  const std::lock_guard lock(mutex_);
  return completed_ < enqueued_;
}

TaskResult Stream::Failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Stream::DropQueued() {
  const std::lock_guard lock(mutex_);
  for (Item& item : queue_) {
    if (item.run == Run::kUnlessFailed) {
      item.task = [] { return TaskResult{}; };
    }
  }
}

void Stream::Forgive() {
  const std::lock_guard lock(mutex_);
  failure_ = {};
}

TaskResult Stream::TakeFailure() {
  const std::lock_guard lock(mutex_);
  return Recovers() || attributes_.goesOn ? std::exchange(failure_, {}) : failure_;
}

bool Stream::OnWorker() const {
  const std::lock_guard lock(mutex_);
  return started_ && pthread_equal(worker_, pthread_self()) != 0;
}

void Stream::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  closed_ = true;
  wake_.notify_all();
}

void Stream::Close(bool force) {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = abandoned_ || force;
    closed_ = true;
    wake_.notify_all();
    if (!started_) {
      return;
    }
    started_ = false;  // one caller joins
  }
  pthread_join(worker_, nullptr);
}

}  // namespace aclsim
