// SPDX-License-Identifier: Apache-2.0
// State of an aclOpExecutor: its tasks, the plan of its temporaries, everything that it owns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/lock.h"
#include "opbase/storage.h"
#include "opbase/task.h"
#include "opdev/op_executor.h"

namespace op::internal {

// Tasks in order with their temporaries placed. Shared with runs under way, so that an executor may
// be destroyed meanwhile.
struct Plan {
  std::vector<std::shared_ptr<Task>> tasks;
  uint64_t workspaceBytes = 0;
};

struct ExecutorState {
  ~ExecutorState();

  void AddTask(std::shared_ptr<Task> task);
  const std::shared_ptr<const Plan>& GetPlan();
  std::string NameOf(const aclTensor* tensor) const;

  aclsim::Mutex<1, "run of an executor">
      running;  // guards a run: a second thread finds what the first left
  std::string api;
  std::map<const Storage*, std::string> names;  // of the caller's tensors
  bool repeatable = false;
  std::vector<std::shared_ptr<Task>> tasks;
  std::vector<std::pair<HandleKind, const void*>> owned;

 private:
  std::shared_ptr<const Plan> plan_;
};

}  // namespace op::internal
