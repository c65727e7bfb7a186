// SPDX-License-Identifier: Apache-2.0
// Second stage: addresses are read, checked and handed to the stream together with the plan.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "engine/options.h"
#include "host/format.h"
#include "opbase/context.h"
#include "opbase/executor.h"
#include "opdev/op_log.h"
#include "runtime/runtime.h"

namespace op::internal {
namespace {

// Kernels copy temporaries in whole blocks.
constexpr uint64_t kWorkspaceAlignment = 32;

// Bytes of one use at the time of the run: device memory, translated again when the task runs, or
// host memory of the plan.
struct BoundUse {
  const void* device = nullptr;
  uint8_t* host = nullptr;
  uint64_t bytes = 0;
};

struct BoundRun {
  std::shared_ptr<const Plan> plan;
  std::vector<std::vector<BoundUse>> uses;  // by task
  const void* workspace = nullptr;
};

std::string UseText(const Task& task, const TensorUse& use) {
  return task.name + ": " + (use.storage->kind == Storage::Kind::kCaller ? "argument " : "") +
         use.name;
}

// Refuses the run and lists the mistake.
aclnnStatus Refuse(aclnnStatus status, const char* mistake, const std::string& argument,
                   const std::string& detail, const std::string& next) {
  OP_LOGE(status, "%s. Next: %s", detail.c_str(), next.c_str());
  aclsim::ReportMisuse({mistake, CurrentCall().api, argument, detail, next, {}});
  return status;
}

const char* NextFor(const char* mistake) {
  if (std::strcmp(mistake, "host-wrong-memory") == 0) {
    return "allocate it with aclrtMalloc and copy the data there";
  }
  return std::strcmp(mistake, "host-use-after-free") == 0
             ? "free it after aclrtSynchronizeStream"
             : "allocate as many bytes as shape and data type take";
}

aclnnStatus BindUse(const Task& task, const TensorUse& use, const void* workspace,
                    BoundUse* bound) {
  if (use.storage == nullptr || use.Bytes() == 0) return ACLNN_SUCCESS;
  bound->bytes = static_cast<uint64_t>(use.Bytes());
  const Storage* storage = use.storage.get();
  if (storage->kind == Storage::Kind::kHost) {
    if (static_cast<uint64_t>(use.end) > storage->host->size()) {
      OP_LOGE(ACLNN_ERR_INNER, "%s reaches outside its %" PRIu64 " bytes",
              UseText(task, use).c_str(), storage->host->size());
      return ACLNN_ERR_INNER;
    }
    bound->host = storage->host->data() + use.begin;
    return ACLNN_SUCCESS;
  }
  const char* base = nullptr;
  if (storage->kind == Storage::Kind::kTemporary && storage->boundTo == nullptr) {
    base = static_cast<const char*>(workspace) + storage->offset;
  } else {
    const Storage* owner = storage->boundTo == nullptr ? storage : storage->boundTo.get();
    if (owner->ownerDestroyed) {
      return Refuse(
          ACLNN_ERR_PARAM_INVALID, "host-destroyed-tensor", use.name,
          UseText(task, use) + " was destroyed after the first stage, a live aclTensor is wanted",
          "keep tensors alive until the second stage has returned");
    }
    if (owner->addr == nullptr) {
      return Refuse(
          ACLNN_ERR_RUNTIME_ERROR, "host-wrong-memory", use.name,
          aclsim::Format("%s needs %" PRIu64 " bytes of device memory, its address is NULL",
                         UseText(task, use).c_str(), bound->bytes),
          NextFor("host-wrong-memory"));
    }
    base = static_cast<const char*>(owner->addr) + (storage == owner ? 0 : storage->offset);
  }
  bound->device = base + use.begin;
  const int size = ge::GetSizeByDataType(use.dataType);
  const uintptr_t alignment = size >= ge::kDataTypeSizeBitOffset ? 1 : std::min(size, 8);
  if (reinterpret_cast<uintptr_t>(bound->device) % alignment != 0) {
    OP_LOGE(ACLNN_ERR_RUNTIME_ERROR,
            "%s is at %p, want an address that is a multiple of the %d bytes of an element",
            UseText(task, use).c_str(), bound->device, size);
    return ACLNN_ERR_RUNTIME_ERROR;
  }
  std::string why;
  if (aclsim::ToBacking(bound->device, bound->bytes, &why) == nullptr) {
    const char* mistake = aclsim::MistakeOf(bound->device);
    return Refuse(ACLNN_ERR_RUNTIME_ERROR, mistake, use.name,
                  aclsim::Format("%s needs %" PRIu64 " bytes of device memory at %p, %" PRIu64
                                 " are there: %s",
                                 UseText(task, use).c_str(), bound->bytes, bound->device,
                                 aclsim::DeviceBytesFrom(bound->device), why.c_str()),
                  NextFor(mistake));
  }
  return ACLNN_SUCCESS;
}

aclnnStatus CheckWorkspace(const void* workspace, uint64_t given, uint64_t needed) {
  if (needed == 0) return ACLNN_SUCCESS;
  if (given < needed) {
    return Refuse(
        ACLNN_ERR_PARAM_INVALID, "host-workspace", "workspaceSize",
        aclsim::Format("the workspace has %" PRIu64 " bytes, the first stage asked for %" PRIu64,
                       given, needed),
        "allocate and pass what the first stage wrote to workspaceSize");
  }
  if (reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
    return Refuse(ACLNN_ERR_PARAM_INVALID, "host-workspace", "workspace",
                  aclsim::Format("the workspace is at %p, want a multiple of %" PRIu64 " bytes",
                                 workspace, kWorkspaceAlignment),
                  "pass the pointer that aclrtMalloc returned");
  }
  std::string why;
  if (aclsim::ToBacking(workspace, needed, &why) == nullptr) {
    return Refuse(
        ACLNN_ERR_PARAM_INVALID, "host-workspace", "workspace",
        aclsim::Format("the workspace at %p must be %" PRIu64 " bytes of device memory, %" PRIu64
                       " are there: %s",
                       workspace, needed, aclsim::DeviceBytesFrom(workspace), why.c_str()),
        NextFor(aclsim::MistakeOf(workspace)));
  }
  return ACLNN_SUCCESS;
}

// A task's memory may have been freed since it was enqueued.
uint8_t* Translate(const void* device, uint64_t bytes, const std::string& what,
                   aclsim::TaskResult* result) {
  std::string why;
  uint8_t* backing = aclsim::ToBacking(device, bytes, &why);
  if (backing == nullptr) {
    constexpr int32_t kExecutionFailed = 507035;
    *result = {kExecutionFailed, what + " lost its memory before the stream reached it: " + why};
  }
  return backing;
}

aclsim::TaskResult RunPlan(const BoundRun& run) {
  aclsim::TaskResult faults;  // of kernels that went on after them
  for (size_t t = 0; t < run.plan->tasks.size(); ++t) {
    const Task& task = *run.plan->tasks[t];
    TaskInput input;
    aclsim::TaskResult result;
    for (size_t u = 0; u < task.uses.size(); ++u) {
      const BoundUse& use = run.uses[t][u];
      uint8_t* addr = use.host;
      if (use.device != nullptr) {
        addr = Translate(use.device, use.bytes, task.name + ": " + task.uses[u].name, &result);
        if (addr == nullptr) return result;
      }
      input.addrs.push_back(addr);
    }
    if (task.workspaceBytes > 0) {
      const char* start = static_cast<const char*>(run.workspace) + task.workspaceOffset;
      input.workspace = Translate(start, task.workspaceBytes, task.name + ": workspace", &result);
      if (input.workspace == nullptr) return result;
    }
    result = task.Run(input);
    if (result.status == 0) continue;
    if (faults.status != 0) result.message = faults.message + "\n" + result.message;
    if (!result.goesOn) return result;
    faults = std::move(result);
  }
  return faults;
}

// Lists what the plan works on, for the check of host accesses that have not waited for it.
std::vector<aclsim::DeviceUse> DeviceUses(const BoundRun& run) {
  std::vector<aclsim::DeviceUse> uses;
  for (size_t t = 0; t < run.plan->tasks.size(); ++t) {
    const Task& task = *run.plan->tasks[t];
    for (size_t u = 0; u < task.uses.size(); ++u) {
      const TensorUse& use = task.uses[u];
      const bool temporary = use.storage != nullptr &&
                             use.storage->kind == Storage::Kind::kTemporary &&
                             use.storage->boundTo == nullptr;
      if (run.uses[t][u].device != nullptr && !temporary) {
        uses.push_back({run.uses[t][u].device, run.uses[t][u].bytes, u >= task.inputCount,
                        !HasNoGaps(use), use.name});
      }
    }
  }
  if (run.plan->workspaceBytes > 0) {
    uses.push_back({run.workspace, run.plan->workspaceBytes, true, false, "workspace"});
  }
  return uses;
}

aclnnStatus RunExecutor(void* workspace, uint64_t workspaceSize, ExecutorState& state,
                        aclrtStream stream) {
  auto run = std::make_shared<BoundRun>();
  run->plan = state.GetPlan();
  run->workspace = workspace;
  aclnnStatus status = CheckWorkspace(workspace, workspaceSize, run->plan->workspaceBytes);
  for (size_t t = 0; t < run->plan->tasks.size() && status == ACLNN_SUCCESS; ++t) {
    const Task& task = *run->plan->tasks[t];
    if (!task.CanLaunch()) return ACLNN_ERR_RUNTIME_ERROR;
    std::vector<BoundUse> uses(task.uses.size());
    for (size_t u = 0; u < uses.size() && status == ACLNN_SUCCESS; ++u) {
      status = BindUse(task, task.uses[u], workspace, &uses[u]);
    }
    run->uses.push_back(std::move(uses));
  }
  if (status != ACLNN_SUCCESS || run->plan->tasks.empty()) return status;
  std::vector<aclsim::DeviceUse> uses;
  if (aclsim::CheckedMode()) uses = DeviceUses(*run);
  const int32_t enqueued =
      aclsim::EnqueueTask(stream, [run] { return RunPlan(*run); }, uses, CurrentCall().api);
  if (enqueued == 0) return ACLNN_SUCCESS;
  OP_LOGE(ACLNN_ERR_RUNTIME_ERROR, "the stream %p does not take the task (error %d)", stream,
          enqueued);
  return ACLNN_ERR_RUNTIME_ERROR;
}

aclnnStatus RefuseExecutor(const aclOpExecutor* executor) {
  const Stale stale = DescribeStale(HandleKind::kOther, executor);
  return Refuse(
      ACLNN_ERR_INNER, stale.mistake, "executor",
      aclsim::Format("argument executor: %p %s", static_cast<const void*>(executor),
                     stale.text.c_str()),
      "call the first stage again for each run, or aclSetAclOpExecutorRepeatable before the "
      "first");
}

}  // namespace
}  // namespace op::internal

aclnnStatus CommonOpExecutorRun(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream) {
  if (executor == nullptr) {
    OP_LOGE(ACLNN_ERR_PARAM_NULLPTR, "argument executor is NULL");
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  const op::internal::HoldHandles hold;
  if (!op::internal::IsAliveExecutor(executor)) return op::internal::RefuseExecutor(executor);
  const std::lock_guard lock(executor->State().running);
  // Another thread may have run it, or destroyed it, meanwhile.
  if (!op::internal::IsAliveExecutor(executor)) return op::internal::RefuseExecutor(executor);
  if (workspaceSize > 0 && workspace == nullptr) {
    op::internal::DestroyExecutor(executor, true);
    return op::internal::Refuse(
        ACLNN_ERR_PARAM_NULLPTR, "host-workspace", "workspace",
        aclsim::Format("workspace is NULL, workspaceSize is %" PRIu64, workspaceSize),
        "allocate workspaceSize bytes with aclrtMalloc");
  }
  aclnnStatus status = ACLNN_ERR_INNER;
  try {
    status = op::internal::RunExecutor(workspace, workspaceSize, executor->State(), stream);
  } catch (const std::exception& error) {
    OP_LOGE(ACLNN_ERR_INNER, "%s", error.what());
  }
  if (!executor->State().repeatable) op::internal::DestroyExecutor(executor, true);
  return status;
}

extern "C" aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  if (executor == nullptr) {
    aclsim::ReportError("[%d] %s: the executor is NULL", ACLNN_ERR_INNER_NULLPTR, __func__);
    return ACLNN_ERR_INNER_NULLPTR;
  }
  const op::internal::HoldHandles hold;
  if (!op::internal::IsAliveExecutor(executor)) {
    const op::internal::Stale stale =
        op::internal::DescribeStale(op::internal::HandleKind::kOther, executor);
    const char* next = "call it between the first stage and the first run";
    const std::string detail = aclsim::Format(
        "argument executor: %p %s", static_cast<const void*>(executor), stale.text.c_str());
    aclsim::ReportError("[%d] %s: %s. Next: %s", ACLNN_ERR_INNER, __func__, detail.c_str(), next);
    aclsim::ReportMisuse({stale.mistake, __func__, "executor", detail, next, {}});
    return ACLNN_ERR_INNER;
  }
  const std::lock_guard lock(executor->State().running);
  executor->State().repeatable = true;
  return OK;
}
