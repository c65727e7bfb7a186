// SPDX-License-Identifier: Apache-2.0
// UB and its buffers, pools and queues. What is checked here is that the kernel uses them in an order that leaves hardware in a
// sound state; whether they order enough is the race check's business.
#include "engine/pipe.h"

#include <algorithm>
#include <exception>

#include "ascendc/types.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr const char* kAtTheEnd = "left as it is at the end";
constexpr const char* kBeyond = "it lies in memory behind UB";
constexpr size_t kMaxBuffers = 64;  // per kernel, TPipe's own limit

// Kernels in use allocate all of UB, so that this is no error.
void HintReservedUb(Core& core, uint64_t wanted) {
  if (!core.Observed()) {
    return;
  }
  Finding finding;
  finding.kind = "ub-reserved";
  finding.severity = Severity::kHint;
  finding.space = "UB";
  finding.at = core.PlaceOf(core.instruction, Pipe::kScalar, core.sites.Capture(), "");
  finding.detail = Format("%llu B of UB are taken; the documentation leaves %llu to kernels on %s",
                          static_cast<unsigned long long>(wanted),
                          static_cast<unsigned long long>(core.soc.ubBytes), core.soc.name.c_str());
  finding.advice = "The last bytes are the toolchain's. Shrink the tile in the tiling function.";
  core.Find(std::move(finding));
}

// Where what does not fit into UB begins, after a finding; the fault is thrown where cores do not go on, or that is full too.
uint64_t Beyond(Core& core, uint64_t bytes, KernelFault fault) {
  const uint64_t begin = core.TakeBeyond(bytes);
  if (begin == 0) {
    throw fault;
  }
  core.GoOn(std::move(fault), kBeyond);
  return begin;
}

QueInfo& Que(Core& core, uint32_t que, const char* call) {
  if (que == 0 || que >= core.ques.size() || core.ques[que].gone) {
    ThrowFault("queue-not-initialised", Format("%s on a queue or TBuf without InitBuffer", call),
               "Hardware would use UB address 0. Call pipe.InitBuffer first.");
  }
  return core.ques[que];
}

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

Buffer ToBuffer(Core& core, uint32_t buf) {
  const BufferInfo& info = core.buffers[buf];
  return {core.ub + info.offset, info.bytes, buf, info.generation};
}

QueuePipes PipesOf(const QueInfo& que) {
  const auto is = [](uint8_t pos, AscendC::TPosition position) {
    return pos == static_cast<uint8_t>(position);
  };
  // A tensor comes in by MTE2 and leaves by MTE3; what is neither belongs to the vector pipe.
  const Pipe from = is(que.pos, AscendC::TPosition::VECIN) ? Pipe::kMte2 : Pipe::kVector;
  const Pipe to = is(que.dst, AscendC::TPosition::VECOUT) ? Pipe::kMte3 : Pipe::kVector;
  return {from, to};
}

// Of a way that the caller names: from GM into UB, or out of UB to GM. Both ends in UB: as a queue
// between them has it, a copy in and a copy out.
QueuePipes PipesOf(uint8_t src, uint8_t dst) {
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
  core.scheduler.Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
}

// What buffers, queues and pools there are, of all pipes.
void ForgetBuffers(Core& core) {
  for (uint32_t buf = 1; buf < core.buffers.size(); ++buf) {
    core.scheduler.Forget(EnQueFlag(buf));
    core.scheduler.Forget(FreeFlag(buf));
  }
  core.buffers.resize(1);
  core.ques.resize(1);
  core.pools.resize(1);
  core.idle.clear();
  core.elsewhere.clear();
}

// The pipe hands out UB and event ids from the start again; its queues and their tensors are nobody's from here on.
void StartAnew(Core& core, uint32_t pipe) {
  PipeInfo& info = core.pipes[pipe];
  info.ubUsed = 0;
  info.buffers = 0;
  info.allocated = {};
  core.idle.clear();
  ForgetQueueEvents(core, pipe);
  const auto ofAnother = [&](const auto& part) { return part.pipe != pipe; };
  const bool alone = std::none_of(core.pools.begin() + 1, core.pools.end(), ofAnother) &&
                     std::none_of(core.ques.begin() + 1, core.ques.end(),
                                  [&](const QueInfo& que) { return ofAnother(que) && !que.gone; });
  if (alone) {
    ForgetBuffers(core);
    return;
  }
  for (QueInfo& que : core.ques) {
    if (que.pipe != pipe) {
      continue;
    }
    que.gone = true;
    que.queued.clear();
    for (const uint32_t buf : que.buffers) {
      core.scheduler.Forget(EnQueFlag(buf));
      core.scheduler.Forget(FreeFlag(buf));
      ++core.buffers[buf].generation;
      core.buffers[buf].state = BufferState::kFree;
    }
  }
}

PoolInfo& Pool(Core& core, uint32_t pool) {
  if (pool == 0 || pool >= core.pools.size()) {
    ThrowFault("queue-not-initialised",
               Format("%s on a TBufPool without InitBufPool", core.instruction),
               "Hardware would use UB address 0. Call InitBufPool of the pipe first.");
  }
  return core.pools[pool];
}

// The table as it would be with one more queue.
std::string TableWith(Core& core, QueInfo que, uint32_t num, uint32_t pipe) {
  que.buffers.resize(num);
  core.ques.push_back(std::move(que));
  std::string table = core.BufferTable(pipe);
  core.ques.pop_back();
  return table;
}

// A queue of a pool with num buffers that have no place yet.
uint32_t AddQue(Core& core, PoolInfo& pool, QueInfo que, uint32_t num) {
  que.pipe = pool.pipe;
  if (pool.buffers + num > pool.ids) {
    PassFault(
        "ub-overflow",
        Format("%u buffers wanted, the pool may have %u and has %u", num, pool.ids, pool.buffers),
        "Hardware writes behind the pool's list of buffers. Raise its bufIDSize, up to 16.",
        "the pool has as many as it takes");
  }
  const auto handle = static_cast<uint32_t>(core.ques.size());
  for (uint32_t i = 0; i < num; ++i) {
    BufferInfo info;
    info.que = handle;
    que.buffers.push_back(static_cast<uint32_t>(core.buffers.size()));
    core.buffers.push_back(info);
  }
  pool.buffers += num;
  pool.ques.push_back(handle);
  core.ques.push_back(std::move(que));
  return handle;
}

uint32_t InitInPool(Core& core, uint32_t handle, QueInfo que, uint32_t num) {
  PoolInfo& pool = Pool(core, handle);
  const uint64_t bytes = que.bytes;
  uint64_t begin = pool.next;
  const bool fits = begin + bytes * num <= pool.end;
  if (!fits) {
    begin = Beyond(core, bytes * num,
                   {"ub-overflow",
                    Format("%llu B wanted, the pool of %llu B has %llu B left\n  buffers:\n%s",
                           Ull(bytes * num), Ull(pool.end - pool.begin), Ull(pool.end - pool.next),
                           core.BufferTable(pool.pipe).c_str()),
                    "Hardware would let buffers overlap what lies behind the pool. Ask InitBufPool "
                    "for more.",
                    CaptureStack(),
                    {},
                    ""});
  }
  const uint32_t added = AddQue(core, pool, std::move(que), num);
  uint64_t next = begin;
  for (const uint32_t buf : core.ques[added].buffers) {
    core.buffers[buf].offset = static_cast<uint32_t>(next);
    core.buffers[buf].bytes = static_cast<uint32_t>(bytes);
    next += bytes;
  }
  core.FreshUb(begin, next);
  pool.next = fits ? next : pool.next;
  return added;
}

}  // namespace

void CheckKernelEnd(Core& core) {
  const char* last = core.instruction;
  core.instruction = kEndOfKernel;
  CheckTilingKey(core, last);
  core.scheduler.Drain();
  CheckModesOff(core);
  CheckQueuesEmpty(core, kAnyPipe);
  CheckFlagsDown(core);
}

uint32_t PipeOpen(void* object) {
  Core& core = Core::Current();
  core.instruction = "TPipe";
  core.scheduler.Drain();
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
    core.scheduler.Drain();
  }
  for (uint32_t buf = 1; buf < core.buffers.size(); ++buf) {
    BufferInfo& buffer = core.buffers[buf];
    const QueInfo& que = core.ques[buffer.que];
    if (que.pipe != pipe || !buffer.freed) {
      continue;
    }
    buffer.freed = false;
    if (barrier) {
      core.scheduler.Forget(FreeFlag(buf));
    } else {
      const QueuePipes pipes = PipesOf(que);
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

uint32_t QueInit(uint8_t pos, uint8_t dst, int32_t depth, uint32_t num, uint32_t bytes, bool tbuf,
                 uint32_t pipe, uint32_t pool) try {
  Core& core = Core::Current();
  core.instruction = "InitBuffer";
  const uint64_t size = (uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  QueInfo que;
  que.pipe = pipe;
  que.pos = pos;
  que.dst = dst;
  que.depth = depth;
  que.tbuf = tbuf;
  que.bytes = static_cast<uint32_t>(size);
  que.initPc = __builtin_return_address(0);
  if (pool != 0) {
    return InitInPool(core, pool, std::move(que), num);
  }
  PipeInfo& of = core.pipes[pipe];
  const uint64_t wanted = of.ubUsed + size * num;
  const bool fits = wanted <= core.soc.UbMemory();
  uint64_t begin = of.ubUsed;
  if (!fits || of.buffers + num > kMaxBuffers) {
    KernelFault fault{
        "ub-overflow",
        Format("%llu B wanted in all, %s has %llu usable; %zu buffers, %zu allowed\n  buffers:\n%s",
               static_cast<unsigned long long>(wanted), core.soc.name.c_str(),
               static_cast<unsigned long long>(core.soc.ubBytes), of.buffers + num, kMaxBuffers,
               TableWith(core, que, num, pipe).c_str()),
        "Hardware would let buffers overlap or raise an exception (507015). Shrink the tile in the "
        "tiling function.",
        CaptureStack(),
        {},
        ""};
    if (fits) {
      core.GoOn(std::move(fault), "the kernel has as many as it takes");
    } else {
      begin = Beyond(core, size * num, std::move(fault));
    }
  } else if (wanted > core.soc.ubBytes) {
    HintReservedUb(core, wanted);
  }
  const auto handle = static_cast<uint32_t>(core.ques.size());
  for (uint32_t i = 0; i < num; ++i) {
    BufferInfo info;
    info.offset = static_cast<uint32_t>(begin + i * size);
    info.bytes = que.bytes;
    info.que = handle;
    que.buffers.push_back(static_cast<uint32_t>(core.buffers.size()));
    core.buffers.push_back(info);
  }
  of.buffers += num;
  core.FreshUb(begin, begin + size * num);
  of.ubUsed = fits ? wanted : of.ubUsed;
  core.ubPeak = std::max(core.ubPeak, of.ubUsed);
  if (depth == 0 && !tbuf) {
    const QueuePipes pipes = PipesOf(que);
    for (const uint32_t buf : que.buffers) {
      KeepQueueEvent(core, &core.buffers[buf].enQueEvent, pipes.from, pipes.to, false);
      KeepQueueEvent(core, &core.buffers[buf].freeEvent, pipes.to, pipes.from, true);
    }
  }
  core.ques.push_back(std::move(que));
  return handle;
}
ACLSIM_SKIPS_FAULTS({})

uint32_t PoolInit(uint32_t pipe, uint32_t parent, uint32_t bytes, uint32_t ids,
                  uint32_t shared) try {
  Core& core = Core::Current();
  core.instruction = "InitBufPool";
  const uint64_t size = (uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  PoolInfo pool;
  pool.pipe = parent != 0 ? Pool(core, parent).pipe : pipe;
  pool.ids = ids;
  if (shared != 0) {
    const PoolInfo& other = Pool(core, shared);
    if (size > other.end - other.begin || ids > other.ids) {
      ThrowFault("ub-overflow",
                 Format("%llu B and %u buffers wanted, the shared pool has %llu B and %u buffers",
                        Ull(size), ids, Ull(other.end - other.begin), other.ids),
                 "Hardware would let its buffers overlap what lies behind the pool. Make the first "
                 "of the pools that share a range the largest.");
    }
    pool.begin = other.begin;
    pool.end = other.begin + size;
  } else {
    PoolInfo* outer = parent != 0 ? &Pool(core, parent) : nullptr;
    uint64_t& next = outer != nullptr ? outer->next : core.pipes[pipe].ubUsed;
    const uint64_t end = outer != nullptr ? outer->end : core.soc.UbMemory();
    pool.begin = next;
    if (const bool fits = next + size <= end;
        !fits || (outer != nullptr && outer->buffers + ids > outer->ids)) {
      KernelFault fault{
          "ub-overflow",
          Format("a pool of %llu B and %u buffers wanted, %llu B%s are left\n  buffers:\n%s",
                 Ull(size), ids, Ull(end - next),
                 outer != nullptr ? Format(" and %u buffers", outer->ids - outer->buffers).c_str()
                                  : "",
                 core.BufferTable(pool.pipe).c_str()),
          "Hardware would let buffers overlap or raise an exception (507015). Shrink the "
          "pools, or let one share the range of another.",
          CaptureStack(),
          {},
          ""};
      if (fits) {
        core.GoOn(std::move(fault), "the pool has as many as it takes");
        next += size;
      } else {
        pool.begin = Beyond(core, size, std::move(fault));
      }
    } else {
      next += size;
      if (next > core.soc.ubBytes) {
        HintReservedUb(core, next);
      }
    }
    pool.end = pool.begin + size;
    core.ubPeak = std::max(core.ubPeak, std::min(pool.end, core.soc.UbMemory()));
  }
  pool.next = pool.begin;
  core.pools.push_back(std::move(pool));
  return static_cast<uint32_t>(core.pools.size() - 1);
}
ACLSIM_SKIPS_FAULTS({})

uint32_t PoolBegin(uint32_t pool) try {
  return static_cast<uint32_t>(Pool(Core::Current(), pool).begin);
}
ACLSIM_SKIPS_FAULTS({})

// Ends what the pool's queues have under way. Buffers stay: they may be used again after another pool of the same range was.
void PoolReset(uint32_t handle) try {
  Core& core = Core::Current();
  core.instruction = "TBufPool::Reset";
  const PoolInfo& pool = Pool(core, handle);
  core.scheduler.Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
  for (const uint32_t que : pool.ques) {
    core.ques[que].queued.clear();
    for (const uint32_t buf : core.ques[que].buffers) {
      core.scheduler.Forget(EnQueFlag(buf));
      core.scheduler.Forget(FreeFlag(buf));
      BufferInfo& info = core.buffers[buf];
      if (info.state != BufferState::kFree && !core.ques[que].tbuf) {
        ++info.generation;
      }
      info.state = BufferState::kFree;
      info.enQueued = info.freed = false;
      LowerQueueEvent(core, &info.enQueEvent);
      LowerQueueEvent(core, &info.freeEvent);
    }
  }
}
ACLSIM_SKIPS_FAULTS()

uint32_t QueOpen(uint32_t pool, uint8_t pos, uint8_t dst, int32_t depth, uint32_t num,
                 bool tbuf) try {
  Core& core = Core::Current();
  core.instruction = "InitStartBufHandle";
  QueInfo que;
  que.pos = pos;
  que.dst = dst;
  que.depth = depth;
  que.tbuf = tbuf;
  que.initPc = __builtin_return_address(0);
  return AddQue(core, Pool(core, pool), std::move(que), num);
}
ACLSIM_SKIPS_FAULTS({})

void QuePlace(uint32_t handle, uint32_t index, uint32_t poolHandle, uint32_t offset,
              uint32_t bytes) try {
  Core& core = Core::Current();
  core.instruction = "InitBufHandle";
  QueInfo& que = Que(core, handle, "InitBufHandle");
  const PoolInfo& pool = Pool(core, poolHandle);
  if (index >= que.buffers.size() || offset < pool.begin || uint64_t{offset} + bytes > pool.end ||
      offset % kBlockBytes != 0) {
    ThrowFault("ub-overflow",
               Format("buffer %u of %zu at UB [%u, %llu), the pool has [%llu, %llu); places are "
                      "multiples of 32",
                      index, que.buffers.size(), offset, Ull(uint64_t{offset} + bytes),
                      Ull(pool.begin), Ull(pool.end)),
               "Hardware would overwrite what lies beside the pool. Ask TPipe::InitBufPool for as "
               "much as the pool hands out.");
  }
  que.bytes = bytes;
  BufferInfo& info = core.buffers[que.buffers[index]];
  info.offset = offset;
  info.bytes = bytes;
  core.FreshUb(offset, uint64_t{offset} + bytes);
}
ACLSIM_SKIPS_FAULTS()

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
      const QueuePipes pipes = PipesOf(que);
      if (info.freed) {
        info.freed = false;
        OrderPipes(core, SyncEvent::Kind::kWait, pipes.to, pipes.from, FreeFlag(buf));
      }
      LowerQueueEvent(core, &info.freeEvent);
      if (core.Observed()) {
        core.scheduler.Call(pipes.from, [&core, begin = info.offset, bytes = info.bytes] {
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
    core.scheduler.Forget(EnQueFlag(buf));
  }
  const QueuePipes pipes = PipesOf(que);
  for (const auto kind : {SyncEvent::Kind::kSet, SyncEvent::Kind::kWait}) {
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
  info.enQueued = true;
  que.queued.push_back(buf);
  const SyncEvent set = core.MakeSync(SyncEvent::Kind::kSet, pipes.from, pipes.to, EnQueFlag(buf));
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
      OrderPipes(core, kind, pipes.from, pipes.to, EnQueFlag(oldest));
    }
    return ToBuffer(core, oldest);
  }
  const uint32_t buf = que.queued.front();
  que.queued.erase(que.queued.begin());
  core.buffers[buf].state = BufferState::kAllocated;
  core.buffers[buf].enQueued = false;
  OrderPipes(core, SyncEvent::Kind::kWait, pipes.from, pipes.to, EnQueFlag(buf));
  LowerQueueEvent(core, &core.buffers[buf].enQueEvent);
  return ToBuffer(core, buf);
}

void QueEnQue(uint32_t handle, uint32_t buf) try {
  Core& core = Core::Current();
  core.instruction = "EnQue";
  EnQue(core, handle, buf, PipesOf(Que(core, handle, "EnQue")));
}
ACLSIM_SKIPS_FAULTS()
Buffer QueDeQue(uint32_t handle) try {
  Core& core = Core::Current();
  core.instruction = "DeQue";
  return DeQue(core, handle, PipesOf(Que(core, handle, "DeQue")));
}
ACLSIM_SKIPS_FAULTS({})
void QueEnQueOn(uint32_t handle, uint32_t buf, uint8_t src, uint8_t dst) try {
  EnQue(Core::Current(), handle, buf, PipesOf(src, dst));
}
ACLSIM_SKIPS_FAULTS()
Buffer QueDeQueOn(uint32_t handle, uint8_t src, uint8_t dst) try {
  return DeQue(Core::Current(), handle, PipesOf(src, dst));
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
  info.freed = true;
  const QueuePipes pipes = PipesOf(core.ques[handle]);
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
  const QueuePipes pipes = PipesOf(que);
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

Buffer TBufGet(uint32_t handle, uint64_t offset, uint64_t bytes) try {
  Core& core = Core::Current();
  core.instruction = "TBuf::Get";
  const QueInfo& que = Que(core, handle, "TBuf::Get");
  Buffer buffer = ToBuffer(core, que.buffers[0]);
  if (offset % kBlockBytes != 0 || offset + bytes > buffer.bytes) {
    PassFault(kUbOutOfBounds,
              Format("TBuf::Get of [%llu, %llu) bytes, the buffer has %u; offsets are multiples "
                     "of 32\n  buffer: %s",
                     static_cast<unsigned long long>(offset),
                     static_cast<unsigned long long>(offset + bytes), buffer.bytes,
                     core.DescribeBuffer(buffer.buf).c_str()),
              "Hardware would overlap the neighbouring buffer.",
              "the tensor reaches as far as the buffer");
  }
  buffer.addr += offset;
  buffer.bytes = static_cast<uint32_t>(bytes != 0 ? bytes : buffer.bytes - offset);
  return buffer;
}
ACLSIM_SKIPS_FAULTS({})

Buffer UbAt(uint64_t offset, uint64_t bytes) try {
  Core& core = Core::Current();
  if (offset + bytes > core.soc.UbMemory()) {
    const auto [place, isNew] = core.elsewhere.try_emplace({offset, bytes}, 0);
    if (isNew || place->second == 0) {
      BufferInfo info;
      info.offset = static_cast<uint32_t>(Beyond(
          core, bytes,
          {kUbOutOfBounds,
           Format("a tensor of %llu B at UB %llu, %s has %llu usable",
                  static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                  core.soc.name.c_str(), static_cast<unsigned long long>(core.soc.ubBytes)),
           "Hardware would raise an exception (507015).",
           CaptureStack(),
           {},
           ""}));
      info.bytes = static_cast<uint32_t>(bytes);
      info.state = BufferState::kAllocated;
      place->second = static_cast<uint32_t>(core.buffers.size());
      core.buffers.push_back(info);
    }
    return ToBuffer(core, place->second);
  }
  if (offset + bytes > core.soc.ubBytes) {
    HintReservedUb(core, offset + bytes);
  }
  // Loops make the same tensor again and again: one entry serves them all.
  for (size_t i = core.buffers.size() - 1; i > 0; --i) {
    const BufferInfo& known = core.buffers[i];
    if (known.que == 0 && known.offset == offset && known.bytes == bytes) {
      return ToBuffer(core, static_cast<uint32_t>(i));
    }
  }
  BufferInfo info;
  info.offset = static_cast<uint32_t>(offset);
  info.bytes = static_cast<uint32_t>(bytes);
  info.state = BufferState::kAllocated;
  core.buffers.push_back(info);
  core.ubPeak = std::max(core.ubPeak, offset + bytes);
  return ToBuffer(core, static_cast<uint32_t>(core.buffers.size() - 1));
}
ACLSIM_SKIPS_FAULTS({})

Ub UbPointer(const void* address, DType dtype) try {
  Core& core = Core::Current();
  // Offsets in UB and addresses cut to 32 bits count too: on the device both are the address.
  const auto bits = reinterpret_cast<uint64_t>(address);
  const auto base = reinterpret_cast<uint64_t>(core.ub);
  const uint64_t offset = bits < core.soc.UbMemory() ? bits
                          : bits <= UINT32_MAX       ? static_cast<uint32_t>(bits - base)
                                                     : bits - base;
  const auto reach = [](const BufferInfo& info) { return uint64_t{info.offset} + info.bytes; };
  size_t best = 0;
  for (size_t i = 1; i < core.buffers.size(); ++i) {
    const BufferInfo& info = core.buffers[i];
    if (!core.ques[info.que].gone && offset >= info.offset && offset < reach(info) &&
        (best == 0 || reach(info) > reach(core.buffers[best]))) {
      best = i;
    }
  }
  // Kernels that know the compiler's reserve use it by its address.
  constexpr uint64_t kReserve2201 = 184 * 1024;
  if (best == 0 && core.soc.npuArch == 2201 && offset >= kReserve2201 &&
      offset < core.soc.ubBytes) {
    const Buffer reserve = UbAt(kReserve2201, core.soc.ubBytes - kReserve2201);
    return {core.ub + offset, reserve.buf, dtype, reserve.generation};
  }
  if (best == 0) {
    ThrowFault(kUbOutOfBounds,
               Format("address %p is UB byte %lld, which no buffer holds", address,
                      static_cast<long long>(offset)),
               "Hardware raises an exception or corrupts another buffer. Take addresses from "
               "GetPhyAddr of a tensor.");
  }
  return {core.ub + offset, static_cast<uint32_t>(best), dtype, core.buffers[best].generation};
}
ACLSIM_SKIPS_FAULTS({})

}  // namespace aclsim
