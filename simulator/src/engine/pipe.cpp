// SPDX-License-Identifier: Apache-2.0
// Pipes: a kernel's TPipe objects, what they begin with and what has to be in order when they end.
#include "engine/pipe.h"

#include <algorithm>
#include <exception>

#include "ascendc/types.h"
#include "engine/flag_numbers.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

constexpr const char* kAtTheEnd = "left as it is at the end";
constexpr uint32_t kAnyPipe = UINT32_MAX;

bool Lives(const QueInfo& que, uint32_t pipe) {
  return !que.gone && (pipe == kAnyPipe || que.pipe == pipe);
}

// Queues that still hold tensors mean that a copy was forgotten.
void CheckQueuesEmpty(Core& core, uint32_t pipe) {
  for (const QueInfo& que : core.ques) {
    if (Lives(que, pipe) && !que.queued.empty()) {
      const uint32_t buf = que.queued[0];
      core.GoOn(
          core.FaultAt(
              "queue-leak", core.buffers[buf].allocSite, Pipe::kScalar, core.instruction,
              Format("%zu tensor(s) still enqueued at the end\n  queue: %s", que.queued.size(),
                     core.DescribeBuffer(buf).c_str()),
              "Hardware leaves an event set for the next kernel, which may hang. DeQue and free "
              "every tensor.",
              {}),
          kAtTheEnd);
    }
  }
  for (uint32_t buf = 1; buf < core.buffers.size(); ++buf) {
    const BufferInfo& info = core.buffers[buf];
    if (info.que != 0 && Lives(core.ques[info.que], pipe) && !core.ques[info.que].tbuf &&
        info.state == BufferState::kAllocated) {
      core.GoOn(
          core.FaultAt(
              "queue-leak", info.allocSite, Pipe::kScalar, core.instruction,
              Format("a tensor of AllocTensor was not freed\n  queue: %s",
                     core.DescribeBuffer(buf).c_str()),
              "Hardware hands out one buffer less from then on, and the queue's event stays in "
              "use. FreeTensor what AllocTensor or DeQue gave.",
              {}),
          kAtTheEnd);
    }
  }
}

void DrainPipes(Core& core) {
  core.scheduler->Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
}

// Returns whether a queue is of no TPipe: it stands for tensors at fixed addresses, also for those of an AIV in its AIC's memories.
bool IsFixed(const QueInfo& que) { return que.pipe == 0; }

// The queues of a pipe, or of all, and their tensors are nobody's from here on.
void LeaveQueues(Core& core, uint32_t pipe) {
  for (size_t i = 1; i < core.ques.size(); ++i) {
    QueInfo& que = core.ques[i];
    if (que.gone || IsFixed(que) || (pipe != kAnyPipe && que.pipe != pipe)) {
      continue;
    }
    que.gone = true;
    que.queued.clear();
    for (const uint32_t buf : que.buffers) {
      ForgetFlags(core, buf);
      ++core.buffers[buf].generation;
      core.buffers[buf].state = BufferState::kFree;
    }
  }
}

// Forgets what buffers, queues and pools there are, of all pipes. Tensors at fixed addresses are of no pipe and stay what they are, with
// their numbers.
void ForgetBuffers(Core& core) {
  LeaveQueues(core, kAnyPipe);
  size_t kept = core.buffers.size();
  while (kept > 1 && !IsFixed(core.ques[core.buffers[kept - 1].que])) {
    --kept;
  }
  core.buffers.resize(kept);
  uint32_t last = 0;
  for (const BufferInfo& buffer : core.buffers) {
    last = std::max(last, buffer.que);
  }
  core.ques.resize(last + 1);
  core.pools.resize(1);
  core.idle.clear();
  if (kept == 1) {
    core.elsewhere.clear();
  }
}

// The pipe hands out UB and event ids from the start again.
void StartAnew(Core& core, uint32_t pipe) {
  PipeInfo& info = core.pipes[pipe];
  info.used = {};
  info.buffers = 0;
  info.allocated = {};
  core.idle.clear();
  ForgetQueueEvents(core, pipe);
  const auto ofAnother = [&](const auto& part) { return part.pipe != pipe && part.pipe != 0; };
  const bool alone = std::none_of(core.pools.begin() + 1, core.pools.end(), ofAnother) &&
                     std::none_of(core.ques.begin() + 1, core.ques.end(),
                                  [&](const QueInfo& que) { return ofAnother(que) && !que.gone; });
  if (alone) {
    ForgetBuffers(core);
  } else {
    LeaveQueues(core, pipe);
  }
}

}  // namespace

void CheckKernelEnd(Core& core) {
  const char* last = core.instruction;
  core.instruction = kEndOfKernel;
  CheckTilingKey(core, last);
  core.scheduler->Drain();
  CheckModesOff(core);
  CheckQueuesEmpty(core, kAnyPipe);
  CheckFlagsDown(core);
  CheckUnitFlags(core);
  CheckMutexesUnlocked(core);
  for (uint32_t pipe = 1; pipe < core.pipes.size(); ++pipe) {
    if (!core.pipes[pipe].copied) {
      CheckEventsReleased(core, pipe);
    }
  }
}

uint32_t PipeOpen(void* object) {
  Core& core = Core::Current();
  core.instruction = "TPipe";
  core.scheduler->Drain();
  const auto exists = [](const PipeInfo& pipe) { return pipe.object != nullptr; };
  if (std::none_of(core.pipes.begin(), core.pipes.end(), exists)) {
    DrainPipes(core);
    ForgetBuffers(core);
    core.pipes.resize(1);
  }
  core.pipes.emplace_back().object = object;
  core.currentPipe = static_cast<uint32_t>(core.pipes.size() - 1);
  InitSoc();
  return core.currentPipe;
}

uint32_t PipeCopy(void* object, uint32_t from) {
  Core& core = Core::Current();
  core.pipes.push_back(core.pipes[from]);
  core.pipes.back().object = object;
  core.pipes.back().copied = true;
  return static_cast<uint32_t>(core.pipes.size() - 1);
}

void PipeAssign(uint32_t pipe, uint32_t from) {
  Core& core = Core::Current();
  void* const object = core.pipes[pipe].object;
  core.pipes[pipe] = core.pipes[from];
  core.pipes[pipe].object = object;
}

void PipeInit(uint32_t pipe) {
  Core& core = Core::Current();
  core.instruction = "TPipe::Init";
  DrainPipes(core);
  StartAnew(core, pipe);
  core.pipes[pipe].destroyed = false;
  core.currentPipe = pipe;
  InitSoc();
}

void PipeReset(uint32_t pipe) {
  Core& core = Core::Current();
  core.instruction = "TPipe::Reset";
  DrainPipes(core);
  StartAnew(core, pipe);
  InitSoc();
}

void InitSoc() {
  Core& core = Core::Current();
  core.maskCounter = false;
  core.maskBits[0] = core.maskBits[1] = ~0ull;
  core.maskSite = 0;
  core.atomic = {};
}

void PipeDestroy(uint32_t pipe, bool barrier) {
  Core& core = Core::Current();
  PipeInfo& info = core.pipes[pipe];
  if (std::uncaught_exceptions() > 0 || info.destroyed) {
    return;  // a fault is on its way out of the kernel
  }
  core.instruction = kEndOfPipe;
  info.destroyed = true;
  if (!info.copied) {
    CheckQueuesEmpty(core, pipe);
  }
  ForgetQueueEvents(core, pipe);
  if (barrier) {
    core.scheduler->Drain();
  }
  for (uint32_t buf = 1; buf < core.buffers.size(); ++buf) {
    BufferInfo& buffer = core.buffers[buf];
    const QueInfo& que = core.ques[buffer.que];
    if (que.pipe != pipe || !buffer.freed) {
      continue;
    }
    buffer.freed = false;
    if (barrier) {
      core.scheduler->Forget(FreeFlag(buf));
    } else {
      const QueuePipes pipes = PipesOf(core, que);
      OrderPipes(core, SyncEvent::Kind::kWait, pipes.from, pipes.to, FreeFlag(buf));
    }
  }
  if (barrier) {
    DrainPipes(core);
  }
}

void PipeClose(uint32_t pipe) {
  Core& core = Core::Current();
  core.pipes[pipe].object = nullptr;
  while (core.currentPipe > 0 && core.pipes[core.currentPipe].object == nullptr) {
    --core.currentPipe;
  }
}

void* PipeCurrent() {
  const Core& core = Core::Current();
  return core.pipes[core.currentPipe].object;
}

}  // namespace aclsim
