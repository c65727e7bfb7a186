// SPDX-License-Identifier: Apache-2.0
// Queues and their tensors. What is checked here is that the kernel uses them in an order that leaves hardware in a sound state;
// whether they order enough is the race check's business.
#include "engine/pipe.h"

#include <algorithm>
#include <exception>

#include "ascendc/types.h"
#include "engine/flag_numbers.h"
#include "engine/positions.h"
#include "engine/scheduler.h"

namespace aclsim {

QueInfo& Que(Core& core, uint32_t que, const char* call) {
  if (que == 0 || que >= core.ques.size() || core.ques[que].gone) {
    ThrowFault("queue-not-initialised", Format("%s on a queue or TBuf without InitBuffer", call),
               "Hardware would use UB address 0. Call pipe.InitBuffer first.");
  }
  return core.ques[que];
}

void ForgetFlags(Core& core, uint32_t buffer) {
  for (const QueuePipes& way : {QueuePipes{Pipe::kVector, Pipe::kMte3},
                                {Pipe::kMte2, Pipe::kVector},
                                {Pipe::kMte2, Pipe::kMte3}}) {
    core.scheduler->Forget(EnQueFlag(buffer, way));
  }
  core.scheduler->Forget(FreeFlag(buffer));
}

Buffer ToBuffer(Core& core, uint32_t buf) {
  const BufferInfo& info = core.buffers[buf];
  const QueInfo& que = core.ques[info.que];
  return {core.ub + info.offset, que.inCube ? que.bytes : info.bytes, buf, info.generation};
}

QueuePipes PipesOf(const Core& core, const QueInfo& que) {
  const QueueEnds taken = PositionOf(que.dst).EndsOn(core.kind);
  if (IsTscm(que) && core.kind != CoreKind::kVector) {
    constexpr auto kGm = static_cast<uint8_t>(AscendC::TPosition::GM);
    return {que.pos == kGm ? Pipe::kMte2 : taken.fills, taken.takes};
  }
  return {PositionOf(que.pos).EndsOn(core.kind).fills, taken.takes};
}

// The queue has a way that the caller names: from GM into UB, or out of UB to GM. Both ends in UB: as a queue

namespace {

BufferInfo& OwnBuffer(Core& core, uint32_t que, uint32_t buf, const char* call) {
  if (buf == 0 || buf >= core.buffers.size() || core.buffers[buf].que != que) {
    ThrowFault("queue-foreign-tensor",
               Format("%s with a tensor that is not from this queue: %s", call,
                      core.DescribeBuffer(buf).c_str()),
               "Hardware would put a wrong buffer into the queue. Pass the tensor that AllocTensor "
               "or DeQue returned.");
  }
  return core.buffers[buf];
}

QueuePipes PipesOf(const Core& core, uint8_t src, uint8_t dst) {
  const auto inUb = [&](uint8_t pos) { return PositionOf(pos).SpaceOn(core.kind) == Space::kUb; };
  if (core.kind == CoreKind::kCube || !inUb(src) || !inUb(dst)) {
    return {PositionOf(src).EndsOn(core.kind).fills, PositionOf(dst).EndsOn(core.kind).takes};
  }
  constexpr auto kGm = static_cast<uint8_t>(AscendC::TPosition::GM);
  if (src != kGm && dst != kGm) return {Pipe::kMte2, Pipe::kMte3};
  return {src == kGm ? Pipe::kMte2 : Pipe::kVector, dst == kGm ? Pipe::kMte3 : Pipe::kVector};
}

size_t HeldAt(const Core& core, const QueInfo& like) {
  size_t held = 0;
  for (const BufferInfo& info : core.buffers) {
    const QueInfo& que = core.ques[info.que];
    if (info.que != 0 && info.state != BufferState::kFree && !que.tbuf && que.pos == like.pos &&
        que.pipe == like.pipe) {
      ++held;
    }
  }
  return held;
}

}  // namespace

Buffer QueAlloc(uint32_t handle) try {
  Core& core = Core::Current();
  core.instruction = "AllocTensor";
  QueInfo& que = Que(core, handle, "AllocTensor");
  for (size_t i = 0; i < que.buffers.size(); ++i) {
    const uint32_t buf = que.buffers[(que.next + i) % que.buffers.size()];
    if (core.buffers[buf].state == BufferState::kFree) {
      que.next = static_cast<uint32_t>((que.next + i + 1) % que.buffers.size());
      const size_t held = HeldAt(core, que);
      if (held >= static_cast<size_t>(EventIds(core))) {
        PassFault("queue-tensor-limit",
                  Format("AllocTensor: %zu tensors of this position are in use, at most %d may be\n"
                         "  queue: %s",
                         held, EventIds(core), core.DescribeBuffer(buf).c_str()),
                  "Hardware runs out of event ids for the queues. Free tensors earlier, or use a "
                  "TBuf for what needs no queue.",
                  "handed out all the same");
      }
      BufferInfo& info = core.buffers[buf];
      info.state = BufferState::kAllocated;
      info.allocSite = core.sites.Capture();
      if (que.inCube) {
        return ToBuffer(core, buf);
      }
      const QueuePipes pipes = PipesOf(core, que);
      if (info.freed) {
        info.freed = false;
        OrderPipes(core, SyncEvent::Kind::kWait, pipes.to, pipes.from, FreeFlag(buf));
      }
      LowerQueueEvent(core, &info.freeEvent);
      if (core.Observed()) {
        core.scheduler->Call(pipes.from, [&core, begin = info.offset, bytes = info.bytes] {
          core.FreshUb(begin, uint64_t{begin} + bytes);
        });
      }
      return ToBuffer(core, buf);
    }
  }
  KernelFault fault{
      "queue-exhausted",
      Format("AllocTensor: all %zu buffers are in use (%zu of them enqueued)\n  queue: %s",
             que.buffers.size(), que.queued.size(),
             core.DescribeBuffer(que.buffers.empty() ? 0 : que.buffers[0]).c_str()),
      "Hardware would wait forever: a hang. Free each tensor before the next AllocTensor, "
      "or give InitBuffer more "
      "buffers.",
      CaptureStack(),
      {},
      ""};
  if (que.buffers.empty()) {
    throw fault;
  }
  core.GoOn(std::move(fault), "the buffer that was handed out longest ago is handed out again");
  const uint32_t buf = que.buffers[que.next % que.buffers.size()];
  que.next = static_cast<uint32_t>((que.next + 1) % que.buffers.size());
  std::erase(que.queued, buf);
  BufferInfo& info = core.buffers[buf];
  info.state = BufferState::kAllocated;
  info.allocSite = core.sites.Capture();
  if (info.enQueued) {
    info.enQueued = false;
    ForgetFlags(core, buf);
  }
  const QueuePipes pipes = PipesOf(core, que);
  for (const auto kind : {SyncEvent::Kind::kSet, SyncEvent::Kind::kWait}) {
    if (que.inCube) {
      break;
    }
    OrderPipes(core, kind, pipes.to, pipes.from, FreeFlag(buf));
  }
  return ToBuffer(core, buf);
}
ACLSIM_SKIPS_FAULTS({})

static void EnQue(Core& core, uint32_t handle, uint32_t buf, const QueuePipes& pipes) {
  core.instruction = "EnQue";
  QueInfo& que = Que(core, handle, "EnQue");
  BufferInfo& info = OwnBuffer(core, handle, buf, "EnQue");
  if (info.state != BufferState::kAllocated) {
    ThrowFault("queue-order",
               Format("EnQue of a tensor that is %s\n  queue: %s",
                      info.state == BufferState::kFree ? "freed" : "already in the queue",
                      core.DescribeBuffer(buf).c_str()),
               "Hardware would set an event twice, or publish a buffer that others may overwrite.");
  }
  // depth 0 is the in-place form, which may hold one tensor.
  if (static_cast<int32_t>(que.queued.size()) >= std::max(que.depth, 1)) {
    PassFault("queue-depth",
              Format("%zu EnQue without DeQue, the queue's depth is %d\n  queue: %s",
                     que.queued.size() + 1, que.depth, core.DescribeBuffer(buf).c_str()),
              "Hardware would lose a tensor of the queue. DeQue first or raise the queue's depth.",
              "the queue holds one more");
  }
  info.state = BufferState::kQueued;
  que.queued.push_back(buf);
  if (que.inCube) {
    return;
  }
  info.enQueued = true;
  const SyncEvent set =
      core.MakeSync(SyncEvent::Kind::kSet, pipes.from, pipes.to, EnQueFlag(buf, pipes));
  RaiseQueueEvent(core, &info.enQueEvent, pipes.from, pipes.to, set.site, "EnQue");
  OrderPipes(core, set);
}

static Buffer DeQue(Core& core, uint32_t handle, const QueuePipes& pipes) {
  core.instruction = "DeQue";
  QueInfo& que = Que(core, handle, "DeQue");
  if (que.queued.empty()) {
    KernelFault fault{"queue-empty",
                      Format("DeQue from an empty queue\n  queue: %s",
                             core.DescribeBuffer(que.buffers.empty() ? 0 : que.buffers[0]).c_str()),
                      "Hardware would wait for an event that nobody sets: a hang. EnQue the tensor "
                      "after the copy.",
                      CaptureStack(),
                      {},
                      ""};
    const auto handedOut = [&](uint32_t i) {
      const uint32_t buf = que.buffers[(que.next + i) % que.buffers.size()];
      return core.buffers[buf].state == BufferState::kAllocated ? buf : 0;
    };
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < que.buffers.size() && oldest == 0; ++i) {
      oldest = handedOut(i);
    }
    if (oldest == 0) {
      throw fault;
    }
    core.GoOn(std::move(fault), "the tensor that AllocTensor gave longest ago comes out");
    for (const auto kind : {SyncEvent::Kind::kSet, SyncEvent::Kind::kWait}) {
      if (que.inCube) {
        break;
      }
      OrderPipes(core, kind, pipes.from, pipes.to, EnQueFlag(oldest, pipes));
    }
    return ToBuffer(core, oldest);
  }
  const uint32_t buf = que.queued.front();
  que.queued.erase(que.queued.begin());
  core.buffers[buf].state = BufferState::kAllocated;
  if (que.inCube) {
    return ToBuffer(core, buf);
  }
  core.buffers[buf].enQueued = false;
  OrderPipes(core, SyncEvent::Kind::kWait, pipes.from, pipes.to, EnQueFlag(buf, pipes));
  LowerQueueEvent(core, &core.buffers[buf].enQueEvent);
  return ToBuffer(core, buf);
}

void QueEnQue(uint32_t handle, uint32_t buf) try {
  Core& core = Core::Current();
  core.instruction = "EnQue";
  EnQue(core, handle, buf, PipesOf(core, Que(core, handle, "EnQue")));
}
ACLSIM_SKIPS_FAULTS()
Buffer QueDeQue(uint32_t handle) try {
  Core& core = Core::Current();
  core.instruction = "DeQue";
  return DeQue(core, handle, PipesOf(core, Que(core, handle, "DeQue")));
}
ACLSIM_SKIPS_FAULTS({})
void QueEnQueOn(uint32_t handle, uint32_t buf, uint8_t src, uint8_t dst) try {
  Core& core = Core::Current();
  EnQue(core, handle, buf, PipesOf(core, src, dst));
}
ACLSIM_SKIPS_FAULTS()
Buffer QueDeQueOn(uint32_t handle, uint8_t src, uint8_t dst) try {
  Core& core = Core::Current();
  return DeQue(core, handle, PipesOf(core, src, dst));
}
ACLSIM_SKIPS_FAULTS({})

void QueFree(uint32_t handle, uint32_t buf) try {
  Core& core = Core::Current();
  core.instruction = "FreeTensor";
  Que(core, handle, "FreeTensor");
  BufferInfo& info = OwnBuffer(core, handle, buf, "FreeTensor");
  if (info.state != BufferState::kAllocated) {
    ThrowFault(
        "queue-order",
        Format("FreeTensor of a tensor that is %s\n  queue: %s",
               info.state == BufferState::kFree ? "already freed" : "still in the queue",
               core.DescribeBuffer(buf).c_str()),
        "Hardware would hand the same buffer out twice. Free each tensor once, after DeQue.");
  }
  info.state = BufferState::kFree;
  ++info.generation;
  if (core.ques[handle].inCube) {
    return;
  }
  info.freed = true;
  const QueuePipes pipes = PipesOf(core, core.ques[handle]);
  const SyncEvent set = core.MakeSync(SyncEvent::Kind::kSet, pipes.to, pipes.from, FreeFlag(buf));
  RaiseQueueEvent(core, &info.freeEvent, pipes.to, pipes.from, set.site, "FreeTensor");
  OrderPipes(core, set);
}
ACLSIM_SKIPS_FAULTS()

int32_t QueCount(uint32_t handle) try {
  Core& core = Core::Current();
  return static_cast<int32_t>(Que(core, handle, "GetTensorCountInQue").queued.size());
}
ACLSIM_SKIPS_FAULTS({})

void QueFreeEvents(uint32_t handle) try {
  Core& core = Core::Current();
  core.instruction = "FreeAllEvent";
  const QueInfo& que = Que(core, handle, "FreeAllEvent");
  const QueuePipes pipes = PipesOf(core, que);
  for (const uint32_t buf : que.buffers) {
    BufferInfo& info = core.buffers[buf];
    if (info.freed) {
      info.freed = false;
      OrderPipes(core, SyncEvent::Kind::kWait, pipes.to, pipes.from, FreeFlag(buf));
      LowerQueueEvent(core, &info.freeEvent);
    }
  }
}
ACLSIM_SKIPS_FAULTS()

bool QueHasIdle(uint32_t handle) try {
  Core& core = Core::Current();
  const QueInfo& que = Que(core, handle, "HasIdleBuffer");
  return std::any_of(que.buffers.begin(), que.buffers.end(),
                     [&](uint32_t buf) { return core.buffers[buf].state == BufferState::kFree; });
}
ACLSIM_SKIPS_FAULTS({})

}  // namespace aclsim
