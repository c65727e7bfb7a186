// SPDX-License-Identifier: Apache-2.0
// UB allocation, queues, event flags and barriers. What is checked here is that the kernel uses them in an order that leaves
// hardware in a sound state; whether they order enough is the race check's business.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>

#include "ascendc/types.h"
#include "engine/core.h"
#include "engine/meeting.h"

namespace aclsim {

namespace {

constexpr uint32_t kBlockBytes = 32;
constexpr size_t kMaxBuffers = 64;  // per kernel, TPipe's own limit
constexpr const char* kTilingKeyIs = "TILING_KEY_IS";

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

int32_t EventIds(const Core& core) { return core.soc.npuArch == 1001 ? 4 : 8; }

QueInfo& Que(Core& core, uint32_t que, const char* call) {
  if (que == 0 || que >= core.ques.size()) {
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

// The pipes at both ends of a queue: who fills its tensors and who takes them.
struct QueuePipes {
  Pipe from, to;
};
QueuePipes PipesOf(const QueInfo& que) {
  const auto is = [](uint8_t pos, AscendC::TPosition position) {
    return pos == static_cast<uint8_t>(position);
  };
  // A tensor comes in by MTE2 and leaves by MTE3; what is neither belongs to the vector pipe.
  const Pipe from = is(que.pos, AscendC::TPosition::VECIN) ? Pipe::kMte2 : Pipe::kVector;
  const Pipe to = is(que.dst, AscendC::TPosition::VECOUT) ? Pipe::kMte3 : Pipe::kVector;
  return {from, to};
}

// Of a way that the caller names: from GM into UB, or out of UB to GM.
QueuePipes PipesOf(uint8_t src, uint8_t dst) {
  constexpr auto kGm = static_cast<uint8_t>(AscendC::TPosition::GM);
  return {src == kGm ? Pipe::kMte2 : Pipe::kVector, dst == kGm ? Pipe::kMte3 : Pipe::kVector};
}

void OrderPipes(Core& core, SyncEvent event) {
  if (event.from == event.to) {
    // A flag from a pipe to itself is a barrier.
    if (event.kind == SyncEvent::Kind::kSet) {
      event.kind = SyncEvent::Kind::kBarrier;
      core.scheduler.Barrier(event);
    }
  } else if (event.kind == SyncEvent::Kind::kSet) {
    core.scheduler.Set(event);
  } else {
    core.scheduler.Wait(event);
  }
}

void OrderPipes(Core& core, SyncEvent::Kind kind, Pipe from, Pipe to, uint32_t flag) {
  OrderPipes(core, core.MakeSync(kind, from, to, flag));
}

size_t HeldAt(const Core& core, uint8_t pos) {
  size_t held = 0;
  for (const BufferInfo& info : core.buffers) {
    if (info.que != 0 && info.state != BufferState::kFree && !core.ques[info.que].tbuf &&
        core.ques[info.que].pos == pos) {
      ++held;
    }
  }
  return held;
}

const char* EventName(uint8_t event) {
  static const char* const kNames[] = {
      "MTE2_MTE1", "MTE1_MTE2", "MTE1_M", "M_MTE1", "MTE2_V",    "V_MTE2",    "MTE3_V",
      "V_MTE3",    "M_V",       "V_M",    "V_V",    "MTE3_MTE1", "MTE1_MTE3", "MTE1_V",
      "MTE2_M",    "M_MTE2",    "V_MTE1", "M_FIX",  "FIX_M",     "MTE3_MTE2", "MTE2_MTE3",
      "S_V",       "V_S",       "S_MTE2", "MTE2_S", "S_MTE3",    "MTE3_S"};
  static_assert(std::size(kNames) == static_cast<size_t>(AscendC::HardEvent::MAX));
  return event < std::size(kNames) ? kNames[event] : "?";
}

// The pipes that an event orders; pipes that a vector core does not have count as the vector pipe.
QueuePipes PipesOfEvent(uint8_t event) {
  static const auto kTable = [] {
    std::array<QueuePipes, static_cast<size_t>(AscendC::HardEvent::MAX)> table{};
    for (uint8_t i = 0; i < table.size(); ++i) {
      const std::string name = EventName(i);
      const auto pipe = [](const std::string& text) {
        return text == "MTE2"   ? Pipe::kMte2
               : text == "MTE3" ? Pipe::kMte3
               : text == "S"    ? Pipe::kScalar
                                : Pipe::kVector;
      };
      const size_t cut = name.find('_');
      table[i] = {pipe(name.substr(0, cut)), pipe(name.substr(cut + 1))};
    }
    return table;
  }();
  return kTable[event];
}

void CheckEvent(const Core& core, uint8_t event, int32_t id, const char* call) {
  static_assert(static_cast<int>(AscendC::HardEvent::MAX) <= 40, "flags table");
  if (event >= static_cast<uint8_t>(AscendC::HardEvent::MAX) || id < 0 || id >= EventIds(core)) {
    ThrowFault(
        "event-id-range",
        Format("%s<HardEvent::%s> with event id %d, legal are 0..%d", call, EventName(event), id,
               EventIds(core) - 1),
        "Hardware would use another flag. Take the id from TPipe::FetchEventID or AllocEventID.");
  }
}

// Queues that still hold tensors mean that a copy was forgotten.
void CheckQueuesEmpty(Core& core) {
  for (const QueInfo& que : core.ques) {
    if (!que.queued.empty()) {
      const uint32_t buf = que.queued[0];
      core.ThrowAt(
          "queue-leak", core.buffers[buf].allocSite, Pipe::kScalar, core.instruction,
          Format("%zu tensor(s) still enqueued at the end\n  queue: %s", que.queued.size(),
                 core.DescribeBuffer(buf).c_str()),
          "Hardware leaves an event set for the next kernel, which may hang. DeQue and free "
          "every tensor.",
          {});
    }
  }
  for (uint32_t buf = 1; buf < core.buffers.size(); ++buf) {
    const BufferInfo& info = core.buffers[buf];
    if (info.que != 0 && !core.ques[info.que].tbuf && info.state == BufferState::kAllocated) {
      core.ThrowAt(
          "queue-leak", info.allocSite, Pipe::kScalar, core.instruction,
          Format("a tensor of AllocTensor was not freed\n  queue: %s",
                 core.DescribeBuffer(buf).c_str()),
          "Hardware hands out one buffer less from then on, and the queue's event stays in "
          "use. FreeTensor what AllocTensor or DeQue gave.",
          {});
    }
  }
}

}  // namespace

std::string FlagName(uint32_t flag) {
  if (flag >= kEventFlags) {
    return (flag - kEventFlags) % 2 == 0 ? "a queue's EnQue" : "a queue's FreeTensor";
  }
  return Format("%s id %u", EventName(static_cast<uint8_t>(flag / 8)), flag % 8);
}

void CheckKernelEnd(Core& core) {
  // The twin is one program for all keys: it runs what stands in a plain else. On the device no such binary exists.
  const bool ranElse = core.launch.twin && core.instruction != kTilingKeyIs;
  core.instruction = "end of kernel";
  if (core.tilingKeyAsked && !core.tilingKeyMatched && !ranElse) {
    ThrowFault("tiling-key-unknown",
               Format("no TILING_KEY_IS matched tiling key %llu",
                      static_cast<unsigned long long>(core.launch.tilingKey)),
               "Hardware would run an empty kernel and leave the output untouched. Make the tiling "
               "function and the kernel agree on the keys.");
  }
  core.scheduler.Drain();
  CheckQueuesEmpty(core);
  for (size_t flag = 0; flag < core.crossCore.size(); ++flag) {
    if (core.crossCore[flag] > 0) {
      core.ThrowAt("cross-core-flag", core.crossCoreSite[flag], Pipe::kScalar, "CrossCoreSetFlag",
                   Format("CrossCoreSetFlag of flag %zu is never waited for", flag),
                   "Hardware leaves the flag's counter raised: a later CrossCoreWaitFlag does not "
                   "wait. Pair each CrossCoreSetFlag with a CrossCoreWaitFlag, on every core.",
                   {});
    }
  }
  for (size_t event = 0; event < core.flags.size(); ++event) {
    for (size_t id = 0; id < core.flags[event].size(); ++id) {
      if (core.flags[event][id] > 0) {
        core.ThrowAt("flag-leak", core.flagSite[event][id], Pipe::kScalar, "SetFlag",
                     Format("SetFlag on %s id %zu is never waited for",
                            EventName(static_cast<uint8_t>(event)), id),
                     "The flag stays set for the next kernel, whose first WaitFlag then does not "
                     "wait. Pair each SetFlag with a WaitFlag.",
                     {});
      }
    }
  }
}

// --- buffers and queues -----------------------------------------------------------------------------------------------

namespace {

void DrainPipes(Core& core) {
  core.scheduler.Drain();
  for (uint32_t buf = 1; buf < core.buffers.size(); ++buf) {
    core.scheduler.Forget(EnQueFlag(buf));
    core.scheduler.Forget(FreeFlag(buf));
  }
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
}

}  // namespace

namespace {

using Ull = unsigned long long;

PoolInfo& Pool(Core& core, uint32_t pool) {
  if (pool == 0 || pool >= core.pools.size()) {
    ThrowFault("queue-not-initialised",
               Format("%s on a TBufPool without InitBufPool", core.instruction),
               "Hardware would use UB address 0. Call InitBufPool of the pipe first.");
  }
  return core.pools[pool];
}

// A queue of a pool with num buffers that have no place yet.
uint32_t AddQue(Core& core, PoolInfo& pool, QueInfo que, uint32_t num) {
  if (pool.buffers + num > pool.ids) {
    ThrowFault(
        "ub-overflow",
        Format("%u buffers wanted, the pool may have %u and has %u", num, pool.ids, pool.buffers),
        "Hardware writes behind the pool's list of buffers. Raise its bufIDSize, up to 16.");
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
  if (pool.next + bytes * num > pool.end) {
    ThrowFault("ub-overflow",
               Format("%llu B wanted, the pool of %llu B has %llu B left\n  buffers:\n%s",
                      Ull(bytes * num), Ull(pool.end - pool.begin), Ull(pool.end - pool.next),
                      core.BufferTable().c_str()),
               "Hardware would let buffers overlap what lies behind the pool. Ask InitBufPool for "
               "more.");
  }
  const uint32_t added = AddQue(core, pool, std::move(que), num);
  const uint64_t begin = pool.next;
  for (const uint32_t buf : core.ques[added].buffers) {
    core.buffers[buf].offset = static_cast<uint32_t>(pool.next);
    core.buffers[buf].bytes = static_cast<uint32_t>(bytes);
    pool.next += bytes;
  }
  core.FreshUb(begin, pool.next);
  return added;
}

}  // namespace

void PipeInit() {
  Core::Current().instruction = "TPipe::Init";
  PipeReset();
}

void PipeReset() {
  Core& core = Core::Current();
  // Flags of the old buffers must not be taken for those of new ones.
  DrainPipes(core);
  core.buffers.resize(1);
  core.ques.resize(1);
  core.pools.resize(1);
  core.ubUsed = 0;
  core.allocated = {};
  InitSoc();
}

void InitSoc() {
  Core& core = Core::Current();
  core.maskCounter = false;
  core.maskBits[0] = core.maskBits[1] = ~0ull;
  core.atomic = {};
}

void PipeDestroy() {
  if (std::uncaught_exceptions() > 0) {
    return;  // a fault is on its way out of the kernel
  }
  Core& core = Core::Current();
  core.instruction = "TPipe::Destroy";
  CheckQueuesEmpty(core);
  DrainPipes(core);
}

uint32_t QueInit(uint8_t pos, uint8_t dst, int32_t depth, uint32_t num, uint32_t bytes, bool tbuf,
                 uint32_t pool) {
  Core& core = Core::Current();
  core.instruction = "InitBuffer";
  const uint64_t size = (uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  QueInfo que;
  que.pos = pos;
  que.dst = dst;
  que.depth = depth;
  que.tbuf = tbuf;
  que.bytes = static_cast<uint32_t>(size);
  que.initPc = __builtin_return_address(0);
  if (pool != 0) {
    return InitInPool(core, pool, std::move(que), num);
  }
  const uint64_t wanted = core.ubUsed + size * num;
  if (wanted > core.soc.UbMemory() || core.buffers.size() - 1 + num > kMaxBuffers) {
    que.buffers.resize(num);
    core.ques.push_back(que);
    ThrowFault(
        "ub-overflow",
        Format("%llu B wanted in all, %s has %llu usable; %zu buffers, %zu allowed\n  buffers:\n%s",
               static_cast<unsigned long long>(wanted), core.soc.name.c_str(),
               static_cast<unsigned long long>(core.soc.ubBytes), core.buffers.size() - 1 + num,
               kMaxBuffers, core.BufferTable().c_str()),
        "Hardware would let buffers overlap or raise an exception (507015). Shrink the tile in the "
        "tiling function.");
  }
  if (wanted > core.soc.ubBytes) {
    HintReservedUb(core, wanted);
  }
  const auto handle = static_cast<uint32_t>(core.ques.size());
  for (uint32_t i = 0; i < num; ++i) {
    BufferInfo info;
    info.offset = static_cast<uint32_t>(core.ubUsed);
    info.bytes = que.bytes;
    info.que = handle;
    que.buffers.push_back(static_cast<uint32_t>(core.buffers.size()));
    core.buffers.push_back(info);
    core.ubUsed += size;
  }
  core.FreshUb(core.ubUsed - size * num, core.ubUsed);
  core.ubPeak = std::max(core.ubPeak, core.ubUsed);
  core.ques.push_back(std::move(que));
  return handle;
}

uint32_t PoolInit(uint32_t parent, uint32_t bytes, uint32_t ids, uint32_t shared) {
  Core& core = Core::Current();
  core.instruction = "InitBufPool";
  const uint64_t size = (uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  PoolInfo pool;
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
    uint64_t& next = outer != nullptr ? outer->next : core.ubUsed;
    const uint64_t end = outer != nullptr ? outer->end : core.soc.UbMemory();
    if (next + size > end || (outer != nullptr && outer->buffers + ids > outer->ids)) {
      ThrowFault(
          "ub-overflow",
          Format("a pool of %llu B and %u buffers wanted, %llu B%s are left\n  buffers:\n%s",
                 Ull(size), ids, Ull(end - next),
                 outer != nullptr ? Format(" and %u buffers", outer->ids - outer->buffers).c_str()
                                  : "",
                 core.BufferTable().c_str()),
          "Hardware would let buffers overlap or raise an exception (507015). Shrink the "
          "pools, or let one share the range of another.");
    }
    pool.begin = next;
    pool.end = next + size;
    next += size;
    if (pool.end > core.soc.ubBytes) {
      HintReservedUb(core, pool.end);
    }
    core.ubPeak = std::max(core.ubPeak, pool.end);
  }
  pool.next = pool.begin;
  core.pools.push_back(std::move(pool));
  return static_cast<uint32_t>(core.pools.size() - 1);
}

uint32_t PoolBegin(uint32_t pool) {
  return static_cast<uint32_t>(Pool(Core::Current(), pool).begin);
}

// Ends what the pool's queues have under way. Buffers stay: they may be used again after another pool of the same range was.
void PoolReset(uint32_t handle) {
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
    }
  }
}

uint32_t QueOpen(uint32_t pool, uint8_t pos, uint8_t dst, int32_t depth, uint32_t num, bool tbuf) {
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

void QuePlace(uint32_t handle, uint32_t index, uint32_t poolHandle, uint32_t offset,
              uint32_t bytes) {
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

Buffer QueAlloc(uint32_t handle) {
  Core& core = Core::Current();
  core.instruction = "AllocTensor";
  QueInfo& que = Que(core, handle, "AllocTensor");
  for (size_t i = 0; i < que.buffers.size(); ++i) {
    const uint32_t buf = que.buffers[(que.next + i) % que.buffers.size()];
    if (core.buffers[buf].state == BufferState::kFree) {
      que.next = static_cast<uint32_t>((que.next + i + 1) % que.buffers.size());
      const size_t held = HeldAt(core, que.pos);
      if (held >= static_cast<size_t>(EventIds(core))) {
        ThrowFault(
            "queue-tensor-limit",
            Format("AllocTensor: %zu tensors of this position are in use, at most %d may be\n"
                   "  queue: %s",
                   held, EventIds(core), core.DescribeBuffer(buf).c_str()),
            "Hardware runs out of event ids for the queues. Free tensors earlier, or use a "
            "TBuf for what needs no queue.");
      }
      BufferInfo& info = core.buffers[buf];
      info.state = BufferState::kAllocated;
      info.allocSite = core.sites.Capture();
      const QueuePipes pipes = PipesOf(que);
      if (info.freed) {
        info.freed = false;
        OrderPipes(core, SyncEvent::Kind::kWait, pipes.to, pipes.from, FreeFlag(buf));
      }
      if (core.Observed()) {
        core.scheduler.Call(pipes.from, [&core, begin = info.offset, bytes = info.bytes] {
          core.FreshUb(begin, uint64_t{begin} + bytes);
        });
      }
      return ToBuffer(core, buf);
    }
  }
  ThrowFault("queue-exhausted",
             Format("AllocTensor: all %zu buffers are in use (%zu of them enqueued)\n  queue: %s",
                    que.buffers.size(), que.queued.size(),
                    core.DescribeBuffer(que.buffers.empty() ? 0 : que.buffers[0]).c_str()),
             "Hardware would wait forever: a hang. Free each tensor before the next AllocTensor, "
             "or give InitBuffer more "
             "buffers.");
}

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
    ThrowFault(
        "queue-depth",
        Format("%zu EnQue without DeQue, the queue's depth is %d\n  queue: %s",
               que.queued.size() + 1, que.depth, core.DescribeBuffer(buf).c_str()),
        "Hardware would lose a tensor of the queue. DeQue first or raise the queue's depth.");
  }
  info.state = BufferState::kQueued;
  info.enQueued = true;
  que.queued.push_back(buf);
  OrderPipes(core, SyncEvent::Kind::kSet, pipes.from, pipes.to, EnQueFlag(buf));
}

static Buffer DeQue(Core& core, uint32_t handle, const QueuePipes& pipes) {
  core.instruction = "DeQue";
  QueInfo& que = Que(core, handle, "DeQue");
  if (que.queued.empty()) {
    ThrowFault("queue-empty",
               Format("DeQue from an empty queue\n  queue: %s",
                      core.DescribeBuffer(que.buffers.empty() ? 0 : que.buffers[0]).c_str()),
               "Hardware would wait for an event that nobody sets: a hang. EnQue the tensor after "
               "the copy.");
  }
  const uint32_t buf = que.queued.front();
  que.queued.erase(que.queued.begin());
  core.buffers[buf].state = BufferState::kAllocated;
  core.buffers[buf].enQueued = false;
  OrderPipes(core, SyncEvent::Kind::kWait, pipes.from, pipes.to, EnQueFlag(buf));
  return ToBuffer(core, buf);
}

void QueEnQue(uint32_t handle, uint32_t buf) {
  Core& core = Core::Current();
  core.instruction = "EnQue";
  EnQue(core, handle, buf, PipesOf(Que(core, handle, "EnQue")));
}
Buffer QueDeQue(uint32_t handle) {
  Core& core = Core::Current();
  core.instruction = "DeQue";
  return DeQue(core, handle, PipesOf(Que(core, handle, "DeQue")));
}
void QueEnQueOn(uint32_t handle, uint32_t buf, uint8_t src, uint8_t dst) {
  EnQue(Core::Current(), handle, buf, PipesOf(src, dst));
}
Buffer QueDeQueOn(uint32_t handle, uint8_t src, uint8_t dst) {
  return DeQue(Core::Current(), handle, PipesOf(src, dst));
}

void QueFree(uint32_t handle, uint32_t buf) {
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
  OrderPipes(core, SyncEvent::Kind::kSet, pipes.to, pipes.from, FreeFlag(buf));
}

int32_t QueCount(uint32_t handle) {
  Core& core = Core::Current();
  return static_cast<int32_t>(Que(core, handle, "GetTensorCountInQue").queued.size());
}

bool QueHasIdle(uint32_t handle) {
  Core& core = Core::Current();
  const QueInfo& que = Que(core, handle, "HasIdleBuffer");
  return std::any_of(que.buffers.begin(), que.buffers.end(),
                     [&](uint32_t buf) { return core.buffers[buf].state == BufferState::kFree; });
}

Buffer TBufGet(uint32_t handle, uint64_t offset, uint64_t bytes) {
  Core& core = Core::Current();
  core.instruction = "TBuf::Get";
  const QueInfo& que = Que(core, handle, "TBuf::Get");
  Buffer buffer = ToBuffer(core, que.buffers[0]);
  if (offset % kBlockBytes != 0 || offset + bytes > buffer.bytes) {
    ThrowFault("ub-out-of-bounds",
               Format("TBuf::Get of [%llu, %llu) bytes, the buffer has %u; offsets are multiples "
                      "of 32\n  buffer: %s",
                      static_cast<unsigned long long>(offset),
                      static_cast<unsigned long long>(offset + bytes), buffer.bytes,
                      core.DescribeBuffer(buffer.buf).c_str()),
               "Hardware would overlap the neighbouring buffer.");
  }
  buffer.addr += offset;
  buffer.bytes = static_cast<uint32_t>(bytes != 0 ? bytes : buffer.bytes - offset);
  return buffer;
}

Buffer UbAt(uint64_t offset, uint64_t bytes) {
  Core& core = Core::Current();
  if (offset + bytes > core.soc.UbMemory()) {
    ThrowFault(
        "ub-out-of-bounds",
        Format("a tensor of %llu B at UB %llu, %s has %llu usable",
               static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
               core.soc.name.c_str(), static_cast<unsigned long long>(core.soc.ubBytes)),
        "Hardware would raise an exception (507015).");
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

Ub UbPointer(const void* address, DType dtype) {
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
    if (offset >= info.offset && offset < reach(info) &&
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
    ThrowFault("ub-out-of-bounds",
               Format("address %p is UB byte %lld, which no buffer holds", address,
                      static_cast<long long>(offset)),
               "Hardware raises an exception or corrupts another buffer. Take addresses from "
               "GetPhyAddr of a tensor.");
  }
  return {core.ub + offset, static_cast<uint32_t>(best), dtype, core.buffers[best].generation};
}

uint64_t ParaBase() { return reinterpret_cast<uint64_t>(Core::Current().launch.args.data()); }

// --- scalar access ----------------------------------------------------------------------------------------------------

uint8_t* UbScalar(const Ub& tensor, uint64_t offsetBytes, uint32_t bytes, ScalarUse use) {
  Core& core = Core::Current();
  core.instruction = use == ScalarUse::kWrite ? "LocalTensor::SetValue" : "LocalTensor::GetValue";
  const auto begin = static_cast<int64_t>(offsetBytes);
  core.CheckUb(tensor, begin, begin + bytes, "the element");
  if (core.Observed() || core.scheduler.Defers(Pipe::kVector)) {
    Access access = DenseAccess(use == ScalarUse::kRead ? Use::kRead : Use::kWrite,
                                core.UbOffset(tensor.addr) + offsetBytes, bytes, tensor.buf);
    core.ScalarAccess(access, tensor.dtype, use == ScalarUse::kReference);
  }
  return tensor.addr + offsetBytes;
}

uint8_t* GmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes, ScalarUse use) {
  Core& core = Core::Current();
  core.instruction = use == ScalarUse::kWrite ? "GlobalTensor::SetValue" : "GlobalTensor::GetValue";
  auto* element = static_cast<uint8_t*>(const_cast<void*>(addr)) + offsetBytes;
  core.CheckGm(element, bytes, use == ScalarUse::kWrite, "the element");
  if (core.Observed() || core.scheduler.Defers(Pipe::kVector)) {
    const Access access = BlockAccess(true, use == ScalarUse::kRead ? Use::kRead : Use::kWrite,
                                      reinterpret_cast<uint64_t>(element), bytes, 1, bytes, 0);
    core.ScalarAccess(access, DType::kUint8, use == ScalarUse::kReference);
  }
  return element;
}

void HintL2(const void* addr, bool read, bool write, bool bypass) {
  Core::Current().HintL2(reinterpret_cast<uint64_t>(addr), read, write, bypass);
}

// --- flags ------------------------------------------------------------------------------------------------------------

void SetFlagEvent(uint8_t event, int32_t id) {
  Core& core = Core::Current();
  core.instruction = "SetFlag";
  CheckEvent(core, event, id, "SetFlag");
  const auto [from, to] = PipesOfEvent(event);
  int8_t& balance = core.flags[event][static_cast<size_t>(id)];
  uint32_t& site = core.flagSite[event][static_cast<size_t>(id)];
  SyncEvent sync = core.MakeSync(SyncEvent::Kind::kSet, from, to, EventFlag(event, id));
  if (balance > 0) {
    core.ThrowAt(
        "flag-set-twice", sync.site, from, "SetFlag",
        Format("SetFlag on %s id %d, which is set and was not waited for", EventName(event), id),
        "Undefined on hardware: the second set is lost and a later WaitFlag hangs. Pair "
        "each SetFlag with a WaitFlag.",
        {site});
  }
  ++balance;
  site = sync.site;
  OrderPipes(core, sync);
}

void WaitFlagEvent(uint8_t event, int32_t id) {
  Core& core = Core::Current();
  core.instruction = "WaitFlag";
  CheckEvent(core, event, id, "WaitFlag");
  const auto [from, to] = PipesOfEvent(event);
  int8_t& balance = core.flags[event][static_cast<size_t>(id)];
  uint32_t& site = core.flagSite[event][static_cast<size_t>(id)];
  SyncEvent sync = core.MakeSync(SyncEvent::Kind::kWait, from, to, EventFlag(event, id));
  if (balance < 0) {
    core.ThrowAt("flag-wait-twice", sync.site, to, "WaitFlag",
                 Format("WaitFlag on %s id %d, which another WaitFlag already waits for",
                        EventName(event), id),
                 "Hardware clears the flag at the first wait and hangs in the second. Pair each "
                 "WaitFlag with a SetFlag.",
                 {site});
  }
  --balance;
  site = sync.site;
  OrderPipes(core, sync);
}

int32_t FetchEvent(uint8_t event) {
  Core& core = Core::Current();
  CheckEvent(core, event, 0, "FetchEventID");
  for (int32_t id = 0; id < EventIds(core); ++id) {
    const auto i = static_cast<size_t>(id);
    if (!core.allocated[event][i] && core.flags[event][i] == 0) {
      return id;
    }
  }
  ThrowFault("event-id-exhausted", Format("no free id for %s", EventName(event)),
             "Hardware would reuse an id that is in flight. Release ids with ReleaseEventID.");
}

int32_t AllocEvent(uint8_t event) {
  const int32_t id = FetchEvent(event);
  Core::Current().allocated[event][static_cast<size_t>(id)] = true;
  return id;
}

void ReleaseEvent(uint8_t event, int32_t id) {
  Core& core = Core::Current();
  CheckEvent(core, event, id, "ReleaseEventID");
  core.allocated[event][static_cast<size_t>(id)] = false;
}

namespace {

// None: a pipe that a vector core does not have.
std::optional<Pipe> OwnPipe(int32_t pipe) {
  return pipe == PIPE_V      ? std::optional(Pipe::kVector)
         : pipe == PIPE_MTE2 ? std::optional(Pipe::kMte2)
         : pipe == PIPE_MTE3 ? std::optional(Pipe::kMte3)
                             : std::nullopt;
}

}  // namespace

void Barrier(int32_t pipe) {
  Core& core = Core::Current();
  core.instruction = "PipeBarrier";
  switch (pipe) {
    case PIPE_S:
      ThrowFault("barrier-pipe", "PipeBarrier<PIPE_S> does not exist",
                 "Hardware hangs. Use a flag to or from the scalar pipe.");
    case PIPE_ALL:
      core.scheduler.Drain();
      core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
      return;
    default:
      if (const std::optional<Pipe> own = OwnPipe(pipe)) {
        core.scheduler.Barrier(core.MakeSync(SyncEvent::Kind::kBarrier, *own, *own, 0));
      }
      return;
  }
}

// --- between cores ----------------------------------------------------------------------------------------------------

namespace {

void CheckCrossCore(const Core& core, uint8_t mode, uint16_t flag) {
  if (mode != 0 || flag >= core.crossCore.size()) {
    ThrowFault("cross-core-flag",
               Format("%s with mode %u and flag %u; a vector kernel has mode 0 and flags 0..%zu",
                      core.instruction, mode, flag, core.crossCore.size() - 1),
               "Other modes order vector with cube cores, and hardware would use another flag: a "
               "hang.");
  }
}

void CheckSyncAllFlags(Core& core) {
  for (size_t flag = 11; flag < 15; ++flag) {
    if (core.crossCore[flag] > 0) {
      core.ThrowAt("cross-core-flag", core.crossCoreSite[flag], Pipe::kScalar, "CrossCoreSetFlag",
                   Format("flag %zu is set and not waited for when SyncAll uses it", flag),
                   "Hardware counts both in one: SyncAll lets a core pass too early. Take flags 0 "
                   "to 10 next to SyncAll.",
                   {core.sites.Capture()});
    }
  }
}

}  // namespace

void SyncAllCores(const void* gm, const Ub* ub, uint32_t cores) {
  Core& core = Core::Current();
  core.instruction = "SyncAll";
  const uint32_t participants = cores == 0 ? core.launch.blockDim : cores;
  if (participants > core.launch.blockDim) {
    ThrowFault("syncall-cores",
               Format("usedCores %u, the launch has %u", cores, core.launch.blockDim),
               "Hardware would wait forever for the others. Pass at most GetBlockNum().");
  }
  if (gm != nullptr) {
    // The soft form counts in 32 bytes per core, both in GM and in UB.
    core.CheckGm(gm, uint64_t{participants} * kBlockBytes, true, "gmWorkspace");
    core.CheckUb(*ub, 0, int64_t{participants} * kBlockBytes, "ubWorkspace");
    core.CheckUbAlign(*ub, kBlockBytes, "ubWorkspace");
  } else {
    CheckSyncAllFlags(core);
  }
  core.scheduler.Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
  core.meeting->SyncAll(core, participants);
  core.Sync(core.MakeSync(SyncEvent::Kind::kCores, Pipe::kScalar, Pipe::kScalar, 0));
}

void CrossCoreSet(uint8_t mode, int32_t pipe, uint16_t flag) {
  Core& core = Core::Current();
  core.instruction = "CrossCoreSetFlag";
  CheckCrossCore(core, mode, flag);
  // A pipe without work is where the scalar pipe is.
  const Pipe from = OwnPipe(pipe).value_or(Pipe::kScalar);
  const SyncEvent event = core.MakeSync(SyncEvent::Kind::kSet, from, Pipe::kScalar, CoreFlag(flag));
  ++core.crossCore[flag];
  core.crossCoreSite[flag] = event.site;
  core.scheduler.SetForCores(event, [&core, event, flag] {
    core.Sync(event);
    core.meeting->SetFlag(core, flag);
  });
}

void CrossCoreWait(uint8_t mode, uint16_t flag) {
  Core& core = Core::Current();
  core.instruction = "CrossCoreWaitFlag";
  CheckCrossCore(core, mode, flag);
  core.scheduler.ReachCores();
  core.meeting->WaitFlag(core, flag);
  --core.crossCore[flag];
  core.Sync(core.MakeSync(SyncEvent::Kind::kWait, Pipe::kScalar, Pipe::kScalar, CoreFlag(flag)));
}

void CleanCache(const void* addr) {
  Core& core = Core::Current();
  core.instruction = "DataCacheCleanAndInvalid";
  constexpr uint64_t kLineBytes = 64;
  const auto at = reinterpret_cast<uint64_t>(addr);
  if (addr == nullptr) {
    core.CacheClean(0, UINT64_MAX - kLineBytes);
  } else {
    core.CacheClean(at, at + 1);
  }
}

void SetAtomic(Atomic op, DType dtype) {
  Core& core = Core::Current();
  core.instruction = "SetAtomic";
  const bool known = dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kInt16 ||
                     dtype == DType::kInt32 || dtype == DType::kInt8 || dtype == DType::kBf16;
  const bool old = core.soc.npuArch == 2002 || core.soc.npuArch == 1001;
  const bool there = core.soc.npuArch == 1001 ? dtype == DType::kFloat
                     : old
                         ? dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kInt16
                         : known;
  if (op != Atomic::kNone && !there) {
    ThrowFault(
        "dtype-unsupported",
        Format("atomic operations of this type do not exist on %s", core.soc.name.c_str()),
        "The device compiler refuses it. float and half exist on Atlas A2, float everywhere.");
  }
  core.atomic = {op, dtype};
}

void SetMaskMode(bool counter) { Core::Current().maskCounter = counter; }

void SetMaskBits(uint64_t high, uint64_t low) {
  Core& core = Core::Current();
  core.maskBits[0] = low;
  core.maskBits[1] = high;
}

// --- system variables -------------------------------------------------------------------------------------------------

int64_t BlockIdx() { return Core::Current().index; }
int64_t BlockNum() { return Core::Current().launch.blockDim; }
uint64_t TilingKey() { return Core::Current().launch.tilingKey; }
void ReadTiling(void* dst, const void* tiling, uint64_t bytes) {
  Core& core = Core::Current();
  core.instruction = "GET_TILING_DATA";
  core.CheckGm(tiling, bytes, false, "the tiling struct");
  std::memcpy(dst, tiling, bytes);
}

uint64_t UbCapacity() { return Core::Current().soc.ubBytes; }

bool TilingKeyIs(uint64_t key) {
  Core& core = Core::Current();
  core.instruction = kTilingKeyIs;
  core.tilingKeyAsked = true;
  const bool same = core.launch.tilingKey == key;
  core.tilingKeyMatched |= same;
  return same;
}

int64_t SystemCycle() {
  // The counter of 2201 runs at 50 MHz.
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
             .count() /
         20;
}

}  // namespace aclsim
