// SPDX-License-Identifier: Apache-2.0
// Events: a record captures the work that a stream has at that moment.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "host/lock.h"
#include "runtime/pending.h"
#include "runtime/runtime.h"

namespace aclsim {

struct EventRecord {
  uint64_t stream = 0;  // what it captured: the stream's tasks up to ticket
  uint64_t ticket = 0;
  PendingWork::Clock clock;  // and what comes before these
  Mutex<5, "event record"> mutex;
  Condition changed;
  bool done = false;
  int64_t nanos = 0;   // when it was reached, steady clock
  TaskResult failure;  // of the recording stream: what was captured did not all succeed

  void Complete(const TaskResult& streamFailure);
};

struct Event {
  uint64_t id = 0;
  uint32_t flags = 0;
  const void* caller = nullptr;  // where the program made it
  bool reusable =
      false;  // made by aclrtCreateEventExWithFlag: counts as complete before the first record
  Mutex<5, "event"> mutex;
  std::shared_ptr<EventRecord> latest;  // null: never recorded, or reset
  std::atomic<int32_t> pendingWaits{0};

  std::shared_ptr<EventRecord> Latest();
};

}  // namespace aclsim
