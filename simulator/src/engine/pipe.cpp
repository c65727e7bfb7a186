// SPDX-License-Identifier: Apache-2.0
// UB allocation, queues, event flags and barriers. Pipes run in program order, so flags and queues order nothing here; what
// is checked is that the kernel uses them so that hardware would be in the same state.
#include <algorithm>
#include <chrono>

#include "ascendc/types.h"
#include "engine/core.h"

namespace aclsim {

namespace {

constexpr uint32_t kBlockBytes = 32;
constexpr size_t kMaxBuffers = 64;  // per kernel, TPipe's own limit

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
  return {core.ub + info.offset, info.bytes, buf};
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

int32_t EventIds(const Core& core) { return core.soc.npuArch == 1001 ? 4 : 8; }

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

}  // namespace

// --- buffers and queues -----------------------------------------------------------------------------------------------

void PipeInit() { PipeReset(); }

void PipeReset() {
  Core& core = Core::Current();
  core.buffers.resize(1);
  core.ques.resize(1);
  core.ubUsed = 0;
  core.allocated = {};
  InitSoc();
}

void InitSoc() {
  Core& core = Core::Current();
  core.maskCounter = false;
  core.maskBits[0] = core.maskBits[1] = ~0ull;
}

void PipeDestroy() {}

uint32_t QueInit(uint8_t pos, int32_t depth, uint32_t num, uint32_t bytes, bool tbuf) {
  Core& core = Core::Current();
  core.instruction = "InitBuffer";
  const uint64_t size = (uint64_t{bytes} + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  QueInfo que;
  que.pos = pos;
  que.depth = depth;
  que.tbuf = tbuf;
  que.bytes = static_cast<uint32_t>(size);
  que.initPc = __builtin_return_address(0);
  if (core.ubUsed + size * num > core.soc.ubBytes || core.buffers.size() - 1 + num > kMaxBuffers) {
    que.buffers.resize(num);
    core.ques.push_back(que);
    ThrowFault(
        "ub-overflow",
        Format("%llu B wanted in all, %s has %llu usable; %zu buffers, %zu allowed\n  buffers:\n%s",
               static_cast<unsigned long long>(core.ubUsed + size * num), core.soc.name.c_str(),
               static_cast<unsigned long long>(core.soc.ubBytes), core.buffers.size() - 1 + num,
               kMaxBuffers, core.BufferTable().c_str()),
        "Hardware would let buffers overlap or raise an exception (507015). Shrink the tile in the "
        "tiling function.");
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
  core.ubPeak = std::max(core.ubPeak, core.ubUsed);
  core.ques.push_back(std::move(que));
  return handle;
}

Buffer QueAlloc(uint32_t handle) {
  Core& core = Core::Current();
  core.instruction = "AllocTensor";
  QueInfo& que = Que(core, handle, "AllocTensor");
  for (size_t i = 0; i < que.buffers.size(); ++i) {
    const uint32_t buf = que.buffers[(que.next + i) % que.buffers.size()];
    if (core.buffers[buf].state == BufferState::kFree) {
      que.next = static_cast<uint32_t>((que.next + i + 1) % que.buffers.size());
      core.buffers[buf].state = BufferState::kAllocated;
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

void QueEnQue(uint32_t handle, uint32_t buf) {
  Core& core = Core::Current();
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
  que.queued.push_back(buf);
}

Buffer QueDeQue(uint32_t handle) {
  Core& core = Core::Current();
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
  return ToBuffer(core, buf);
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
  if (offset + bytes > core.soc.ubBytes) {
    ThrowFault(
        "ub-out-of-bounds",
        Format("a tensor of %llu B at UB %llu, %s has %llu usable",
               static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
               core.soc.name.c_str(), static_cast<unsigned long long>(core.soc.ubBytes)),
        "Hardware would raise an exception (507015).");
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

// --- scalar access ----------------------------------------------------------------------------------------------------

uint8_t* UbScalar(const Ub& tensor, uint64_t offsetBytes, uint32_t bytes, bool write) {
  Core& core = Core::Current();
  core.instruction = write ? "LocalTensor::SetValue" : "LocalTensor::GetValue";
  const auto begin = static_cast<int64_t>(offsetBytes);
  core.CheckUb(tensor, begin, begin + bytes, "the element");
  if (core.Observed()) {
    Record record{core.instruction, Pipe::kScalar, {}, 1, 1};
    record.access[0] = {false, write, core.UbOffset(tensor.addr) + offsetBytes, bytes};
    core.Emit(record);
  }
  return tensor.addr + offsetBytes;
}

uint8_t* GmScalar(const void* addr, uint64_t offsetBytes, uint32_t bytes, bool write) {
  Core& core = Core::Current();
  core.instruction = write ? "GlobalTensor::SetValue" : "GlobalTensor::GetValue";
  auto* element = static_cast<uint8_t*>(const_cast<void*>(addr)) + offsetBytes;
  core.CheckGm(element, bytes, write, "the element");
  if (core.Observed()) {
    Record record{core.instruction, Pipe::kScalar, {}, 1, 1};
    record.access[0] = {true, write, reinterpret_cast<uint64_t>(element), bytes};
    core.Emit(record);
  }
  return element;
}

// --- flags ------------------------------------------------------------------------------------------------------------

void SetFlagEvent(uint8_t event, int32_t id) {
  Core& core = Core::Current();
  core.instruction = "SetFlag";
  CheckEvent(core, event, id, "SetFlag");
  if (core.flags[event][static_cast<size_t>(id)]++ != 0) {
    ThrowFault(
        "flag-set-twice",
        Format("SetFlag on %s id %d, which is set and was not waited for", EventName(event), id),
        "Undefined on hardware: the second set is lost and a later WaitFlag hangs. Pair each "
        "SetFlag with a WaitFlag.");
  }
}

void WaitFlagEvent(uint8_t event, int32_t id) {
  Core& core = Core::Current();
  core.instruction = "WaitFlag";
  CheckEvent(core, event, id, "WaitFlag");
  uint8_t& flag = core.flags[event][static_cast<size_t>(id)];
  if (flag == 0) {
    ThrowFault("deadlock",
               Format("WaitFlag on %s id %d, which nobody has set", EventName(event), id),
               "Hardware would wait forever: a hang. SetFlag with the same event and id must come "
               "before it in the program.");
  }
  --flag;
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

void Barrier(int32_t pipe) {
  if (pipe == PIPE_S) {
    ThrowFault("barrier-pipe", "PipeBarrier<PIPE_S> does not exist",
               "Hardware hangs. Use a flag to or from the scalar pipe.");
  }
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
uint64_t UbCapacity() { return Core::Current().soc.ubBytes; }

bool TilingKeyIs(uint64_t key) {
  Core& core = Core::Current();
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
