// SPDX-License-Identifier: Apache-2.0
// Buffers of queues, pools and tensors get their bytes of UB here. A buffer that does not fit is a fault.
#include "engine/pipe.h"

#include <algorithm>
#include <exception>

#include "ascendc/types.h"
#include "engine/positions.h"
#include "engine/scheduler.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr const char* kBeyond = "it lies in memory behind UB";
// A tensor that begins in its memory and is said to end behind it.
constexpr const char* kCut = "it ends where the memory ends";
constexpr size_t kMaxBuffers = 64;  // per kernel, TPipe's own limit

// Returns how many bytes of a memory a kernel may use.
uint64_t UsableOf(const Core& core, Space space) {
  return space == Space::kUb ? core.soc.ubBytes : core.soc.BytesOf(space);
}

// Kernels in use allocate all of UB, so that this is no error.
void HintReserved(Core& core, Space space, uint64_t wanted) {
  if (!core.Observed()) {
    return;
  }
  Finding finding;
  finding.kind = "ub-reserved";
  finding.severity = Severity::kHint;
  finding.space = SpaceName(space);
  finding.at = core.PlaceOf(core.instruction, Pipe::kScalar, core.sites.Capture(), "");
  finding.detail =
      Format("%llu B of %s are taken; the documentation leaves %llu to kernels on %s",
             static_cast<unsigned long long>(wanted), SpaceName(space),
             static_cast<unsigned long long>(UsableOf(core, space)), core.soc.name.c_str());
  finding.advice = "The last bytes are the toolchain's. Shrink the tile in the tiling function.";
  core.Find(std::move(finding));
}

void NotePeak(Core& core, Space space, uint64_t used) {
  if (space == Space::kUb) {
    core.ubPeak = std::max(core.ubPeak, used);
  }
}

// Returns where a buffer begins that does not fit into its memory, after a finding; the fault is thrown where cores do not go on, or that is full too.
uint64_t Beyond(Core& core, uint64_t bytes, KernelFault fault) {
  const uint64_t begin = core.TakeBeyond(bytes);
  if (begin == 0) {
    throw fault;
  }
  core.GoOn(std::move(fault), kBeyond);
  return begin;
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

// On a split chip an AIV has none of the matrix unit's memories.
bool IsOfOtherCores(const Core& core, uint8_t pos) {
  return core.kind == CoreKind::kVector && !core.soc.coupled &&
         PositionOf(pos).SpaceOn(CoreKind::kCube) != Space::kUb;
}

// Ascend 950 has a way from UB into L1 of the AIC.
bool IsLinkedL1(const Core& core, uint8_t pos) {
  return core.launch.Mixed() && core.soc.matrix.HasWay(Space::kUb, Space::kL1) &&
         IsOfOtherCores(core, pos) && PositionOf(pos).SpaceOn(CoreKind::kCube) == Space::kL1;
}

// A queue whose buffers have no byte here. Code of both halves of a kernel may make one; whatever uses it is a fault, but for copies
// into L1 of the AIC: the addresses there are those that the AIC's half gets, which makes the same queues.
uint32_t AddAbsent(Core& core, QueInfo que, uint32_t num) {
  const auto handle = static_cast<uint32_t>(core.ques.size());
  que.inCube = que.linked = IsLinkedL1(core, que.pos);
  uint64_t at = 0;
  if (que.linked) {
    uint64_t& used = core.pipes[que.pipe].usedOfCube;
    at = used;
    used += uint64_t{que.bytes} * num;
  } else {
    que.bytes = 0;
  }
  for (uint32_t i = 0; i < num; ++i) {
    BufferInfo info;
    info.offset = static_cast<uint32_t>(core.image.Bytes() + at + uint64_t{i} * que.bytes);
    info.que = handle;
    que.buffers.push_back(static_cast<uint32_t>(core.buffers.size()));
    core.buffers.push_back(info);
  }
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

// Pieces of L1 of an AIV's AIC, from its end down: those of the first AIV of an AI core below those of the second. They have addresses
// behind the AIV's own image, and no byte there.
uint32_t InitInCube(Core& core, QueInfo que, uint32_t num, bool oneForBoth) {
  const uint32_t owners = oneForBoth ? 1 : core.launch.group.vectors;
  const uint32_t place = oneForBoth ? 0 : core.launch.SubOf(core.index);
  const uint64_t own = uint64_t{que.bytes} * num, there = core.soc.BytesOf(Space::kL1);
  uint64_t& used = core.pipes[que.pipe].used[static_cast<size_t>(Space::kL1)];
  if (used + own * owners > there) {
    ThrowFault(
        "ub-overflow",
        Format("%llu B of TSCM wanted for %u AIVs of an AI core, its L1 of %llu B has %llu left",
               Ull(own * owners), owners, Ull(there), Ull(there - used)),
        "Hardware would let buffers overlap. Shrink the tile in the tiling function.");
  }
  used += own * owners;
  que.inCube = true;
  const auto handle = static_cast<uint32_t>(core.ques.size());
  for (uint32_t i = 0; i < num; ++i) {
    BufferInfo info;
    info.offset = static_cast<uint32_t>(core.image.Bytes() + there - used + place * own +
                                        uint64_t{i} * que.bytes);
    info.que = handle;
    que.buffers.push_back(static_cast<uint32_t>(core.buffers.size()));
    core.buffers.push_back(info);
  }
  core.ques.push_back(std::move(que));
  return handle;
}

// Returns a queue as its InitBuffer describes it.
QueInfo Described(uint8_t pos, uint8_t dst, int32_t depth, uint32_t bytes, bool tbuf, uint32_t pipe,
                  void* initPc) {
  QueInfo que;
  que.pipe = pipe;
  que.pos = pos;
  que.dst = dst;
  que.depth = depth;
  que.tbuf = tbuf;
  que.bytes =
      static_cast<uint32_t>((uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
  que.initPc = initPc;
  return que;
}

uint32_t InitOnCore(Core& core, QueInfo que, uint32_t num) {
  const uint32_t pipe = que.pipe;
  const uint8_t pos = IsTscm(que) ? que.dst : que.pos;
  uint64_t size = que.bytes;
  PipeInfo& of = core.pipes[pipe];
  if (IsOfOtherCores(core, pos)) {
    return AddAbsent(core, std::move(que), num);
  }
  const Space space = PositionOf(pos).SpaceOn(core.kind);
  uint64_t& used = of.used[static_cast<size_t>(space)];
  uint64_t there = core.image.End(space) - core.image.Begin(space);
  if (space == Space::kL1) {
    there = std::min(there, core.tscmBegin);
  }
  // The fixpipe has more tables than FB, the one for quantisation. CANN's TPipe lays out all of them as one memory; instructions reach FB
  // alone.
  if (space == Space::kFb && size > there && size <= core.soc.fixpipeTablesBytes) {
    HintReserved(core, space, size);
    que.bytes = static_cast<uint32_t>(size = there);
  }
  const uint64_t wanted = used + size * num;
  const bool fits = wanted <= there;
  uint64_t begin = core.image.Begin(space) + used;
  if (!fits || of.buffers + num > kMaxBuffers) {
    KernelFault fault{
        "ub-overflow",
        Format("%llu B%s wanted in all, %s has %llu usable; %zu buffers, %zu allowed\n"
               "  buffers:\n%s",
               Ull(wanted), space == Space::kUb ? "" : Format(" of %s", SpaceName(space)).c_str(),
               core.soc.name.c_str(), Ull(UsableOf(core, space)), of.buffers + num, kMaxBuffers,
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
  } else if (space == Space::kUb && wanted > core.soc.ubBytes) {
    HintReserved(core, Space::kUb, wanted);
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
  used = fits ? wanted : used;
  NotePeak(core, space, used);
  if (que.depth == 0 && !que.tbuf) {
    const QueuePipes pipes = PipesOf(core, que);
    for (const uint32_t buf : que.buffers) {
      KeepQueueEvent(core, &core.buffers[buf].enQueEvent, pipes.from, pipes.to, false);
      KeepQueueEvent(core, &core.buffers[buf].freeEvent, pipes.to, pipes.from, true);
    }
  }
  core.ques.push_back(std::move(que));
  return handle;
}

}  // namespace

uint32_t QueInit(uint8_t pos, uint8_t dst, int32_t depth, uint32_t num, uint32_t bytes, bool tbuf,
                 uint32_t pipe, uint32_t pool) try {
  Core& core = Core::Current();
  core.instruction = "InitBuffer";
  QueInfo que = Described(pos, dst, depth, bytes, tbuf, pipe, __builtin_return_address(0));
  return pool != 0 ? InitInPool(core, pool, std::move(que), num)
                   : InitOnCore(core, std::move(que), num);
}
ACLSIM_SKIPS_FAULTS({})

uint32_t TscmInit(uint8_t pos, int32_t depth, uint32_t num, uint32_t bytes, bool oneForBoth,
                  uint32_t pipe) try {
  Core& core = Core::Current();
  core.instruction = "InitBuffer";
  QueInfo que = Described(pos, static_cast<uint8_t>(AscendC::TPosition::TSCM), depth, bytes, false,
                          pipe, __builtin_return_address(0));
  return core.kind == CoreKind::kVector && core.launch.Mixed()
             ? InitInCube(core, std::move(que), num, oneForBoth)
             : InitOnCore(core, std::move(que), num);
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
    uint64_t& next =
        outer != nullptr ? outer->next : core.pipes[pipe].used[static_cast<size_t>(Space::kUb)];
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
        HintReserved(core, Space::kUb, next);
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
  core.scheduler->Drain();
  core.Sync(core.MakeSync(SyncEvent::Kind::kAll, Pipe::kScalar, Pipe::kScalar, 0));
  for (const uint32_t que : pool.ques) {
    core.ques[que].queued.clear();
    for (const uint32_t buf : core.ques[que].buffers) {
      ForgetFlags(core, buf);
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

Buffer TBufGet(uint32_t handle, uint64_t offset, uint64_t bytes) try {
  Core& core = Core::Current();
  core.instruction = "TBuf::Get";
  const QueInfo& que = Que(core, handle, "TBuf::Get");
  Buffer buffer = ToBuffer(core, que.buffers[0]);
  if ((offset % kBlockBytes != 0 || offset + bytes > buffer.bytes) &&
      !IsOfOtherCores(core, que.pos)) {
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

// A tensor of an AIV at an address of its AIC's memories. Code of both halves may make one.
static Buffer AtOfCube(Core& core, uint8_t pos, uint64_t offset, uint64_t bytes) {
  const auto [place, isNew] = core.ofCube.try_emplace({pos, offset, bytes}, 0);
  if (isNew) {
    QueInfo que;
    que.pos = que.dst = pos;
    que.tbuf = true;
    que.inCube = PositionOf(pos).SpaceOn(CoreKind::kCube) == Space::kL1;
    que.linked = IsLinkedL1(core, pos);
    que.bytes = static_cast<uint32_t>(bytes);
    BufferInfo info;
    info.offset = static_cast<uint32_t>(core.image.Bytes() + (que.inCube ? offset : 0));
    info.state = BufferState::kAllocated;
    info.que = static_cast<uint32_t>(core.ques.size());
    place->second = static_cast<uint32_t>(core.buffers.size());
    que.buffers.push_back(place->second);
    core.buffers.push_back(info);
    core.ques.push_back(std::move(que));
  }
  Buffer buffer = ToBuffer(core, place->second);
  buffer.bytes = static_cast<uint32_t>(bytes);
  return buffer;
}

Buffer UbAt(uint64_t offset, uint64_t bytes) {
  return LocalAt(static_cast<uint8_t>(AscendC::TPosition::VECCALC), offset, bytes);
}

Buffer LocalAt(uint8_t pos, uint64_t offset, uint64_t bytes) try {
  Core& core = Core::Current();
  if (core.launch.Mixed() && IsOfOtherCores(core, pos)) {
    return AtOfCube(core, pos, offset, bytes);
  }
  const Space space = PositionOf(pos).SpaceOn(core.kind);
  const uint64_t start = core.image.Begin(space);
  const uint64_t there = core.image.End(space) - start;
  if (offset + bytes > there) {
    // GetPhyAddr of another tensor, of which 32 bits are left: on the device it is such an offset.
    const auto own = static_cast<uint32_t>(reinterpret_cast<uint64_t>(core.ub) + start);
    const uint64_t moved = static_cast<uint32_t>(offset - own);
    offset = moved + bytes <= there ? moved : offset;
  }
  if (offset + bytes > there) {
    const auto [place, isNew] = core.elsewhere.try_emplace({start + offset, bytes}, 0);
    if (isNew || place->second == 0) {
      KernelFault fault{
          kUbOutOfBounds,
          Format("a tensor of %llu B at %s %llu, %s has %llu usable", Ull(bytes), SpaceName(space),
                 Ull(offset), core.soc.name.c_str(), Ull(UsableOf(core, space))),
          "Hardware would raise an exception (507015).",
          CaptureStack(),
          {},
          ""};
      BufferInfo info;
      if (offset < there && core.keepGoing) {  // hardware looks at what is accessed
        core.GoOn(std::move(fault), kCut);
        info.offset = static_cast<uint32_t>(start + offset);
        info.bytes = static_cast<uint32_t>(there - offset);
      } else {
        info.offset = static_cast<uint32_t>(Beyond(core, bytes, std::move(fault)));
        info.bytes = static_cast<uint32_t>(bytes);
      }
      info.state = BufferState::kAllocated;
      place->second = static_cast<uint32_t>(core.buffers.size());
      core.buffers.push_back(info);
    }
    return ToBuffer(core, place->second);
  }
  if (space == Space::kUb && offset + bytes > core.soc.ubBytes) {
    HintReserved(core, Space::kUb, offset + bytes);
  }
  // Loops make the same tensor again and again: one entry serves them all.
  for (size_t i = core.buffers.size() - 1; i > 0; --i) {
    const BufferInfo& known = core.buffers[i];
    if (known.que == 0 && known.offset == start + offset && known.bytes == bytes) {
      return ToBuffer(core, static_cast<uint32_t>(i));
    }
  }
  BufferInfo info;
  info.offset = static_cast<uint32_t>(start + offset);
  info.bytes = static_cast<uint32_t>(bytes);
  info.state = BufferState::kAllocated;
  core.buffers.push_back(info);
  NotePeak(core, space, offset + bytes);
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
