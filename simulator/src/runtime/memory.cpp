// SPDX-License-Identifier: Apache-2.0
// Allocation, copies and fills: every pointer is looked up before a byte moves.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <vector>

#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "runtime/fault_handler.h"
#include "runtime/host_watch.h"
#include "runtime/misuse.h"
#include "runtime/options.h"
#include "runtime/state.h"
#include "runtime/stream.h"
#include "runtime/unread.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

enum class Place { kAny, kHost, kDevice };

struct CopyKind {
  const char* name;
  Place dst;
  Place src;
};

// nullptr: not a kind that copies accept.
const CopyKind* FindKind(aclrtMemcpyKind kind) {
  static constexpr CopyKind kKinds[] = {
      {"ACL_MEMCPY_HOST_TO_HOST", Place::kHost, Place::kHost},
      {"ACL_MEMCPY_HOST_TO_DEVICE", Place::kDevice, Place::kHost},
      {"ACL_MEMCPY_DEVICE_TO_HOST", Place::kHost, Place::kDevice},
      {"ACL_MEMCPY_DEVICE_TO_DEVICE", Place::kDevice, Place::kDevice},
      {"ACL_MEMCPY_DEFAULT", Place::kAny, Place::kAny},
      {"ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE", Place::kDevice, Place::kHost},
  };
  const auto index = static_cast<unsigned>(kind);
  return index < std::size(kKinds) ? &kKinds[index] : nullptr;
}

// Rows of bytes; a plain copy is one row.
struct Copy {
  void* dst = nullptr;
  const void* src = nullptr;
  uint64_t dstPitch = 0;
  uint64_t srcPitch = 0;
  uint64_t width = 0;
  uint64_t height = 1;
  const CopyKind* kind = nullptr;

  uint64_t DstBytes() const { return (height - 1) * dstPitch + width; }
  uint64_t SrcBytes() const { return (height - 1) * srcPitch + width; }
};

// Why a copy or a fill is refused.
struct Refusal {
  const char* kind = "";
  const char* argument = "";
  std::string detail;
  std::string next;
};

int32_t Refuse(const Api& api, const Refusal& refusal) {
  return api.Refuse(ACL_ERROR_RT_PARAM_INVALID, refusal.kind, refusal.argument, refusal.detail,
                    refusal.next);
}

const char* SideName(Place side) { return side == Place::kDevice ? "DEVICE" : "HOST"; }

// One side of a copy, ready to be read or written.
struct Side {
  uint8_t* bytes = nullptr;
  bool device = false;
  std::shared_ptr<const HostMemory::Block> pinned;  // null: device or pageable host memory
};

// Says what is wrong with device memory that was looked up in vain.
Refusal Unresolved(const char* argument, const void* pointer, const std::string& why) {
  const char* kind = MistakeOf(pointer);
  const bool freed = std::strcmp(kind, "host-use-after-free") == 0;
  return {freed ? kind : "host-memcpy-size", argument, std::string(argument) + " " + why,
          freed ? "free the block after its last use"
                : "ask for as many bytes as the block has from there, or allocate more"};
}

// False with the reason when the pointer is not what the copy wants.
bool ResolveSide(const char* argument, const void* pointer, uint64_t bytes, Place want,
                 const char* kind, Side* side, Refusal* refusal) {
  State& state = Global();
  std::string why;
  side->device = state.device.InRange(pointer);
  if (want != Place::kAny && side->device != (want == Place::kDevice)) {
    *refusal = {"host-memcpy-kind", argument,
                Format("%s %s, but %s wants %s memory there", argument,
                       state.device.Describe(pointer).c_str(), kind,
                       want == Place::kDevice ? "device" : "host"),
                ""};
    return false;
  }
  if (side->device) {
    side->bytes = state.device.Resolve(pointer, bytes, &why);
    if (side->bytes == nullptr) {
      *refusal = Unresolved(argument, pointer, why);
    }
    return side->bytes != nullptr;
  }
  side->bytes = static_cast<uint8_t*>(const_cast<void*>(pointer));
  side->pinned = state.host.Find(pointer);
  if (side->pinned != nullptr) {
    const auto offset = static_cast<uint64_t>(side->bytes - side->pinned->start);
    const uint64_t left = side->pinned->bytes - offset;
    if (bytes > left) {
      *refusal = Unresolved(
          argument, pointer,
          Format(
              "%p is byte %llu of the aclrtMallocHost block of %llu bytes; %llu bytes are wanted "
              "from there, it has %llu left",
              pointer, static_cast<Ull>(offset), static_cast<Ull>(side->pinned->bytes),
              static_cast<Ull>(bytes), static_cast<Ull>(left)));
      refusal->kind = "host-memcpy-size";
      return false;
    }
  }
  return true;
}

bool ResolveCopy(const Copy& copy, Side* dst, Side* src, Refusal* refusal) {
  if (ResolveSide("dst", copy.dst, copy.DstBytes(), copy.kind->dst, copy.kind->name, dst,
                  refusal) &&
      ResolveSide("src", copy.src, copy.SrcBytes(), copy.kind->src, copy.kind->name, src,
                  refusal)) {
    return true;
  }
  if (refusal->next.empty()) {
    const DeviceMemory& device = Global().device;
    const auto side = [&](const void* pointer) {
      return SideName(device.InRange(pointer) ? Place::kDevice : Place::kHost);
    };
    refusal->next = Format("pass ACL_MEMCPY_%s_TO_%s if these are the pointers that you mean",
                           side(copy.src), side(copy.dst));
  }
  return false;
}

// False: host memory that is not accessible.
bool CopyRow(const Side& dst, uint8_t* to, const Side& src, const uint8_t* from, uint64_t bytes) {
  const bool pinned = dst.pinned != nullptr || src.pinned != nullptr;
  if (pinned && HostWatch::CopyPast(to, from, bytes)) {
    return true;
  }
  const HostWatch::Open openDst(to, dst.pinned != nullptr ? bytes : 0);
  const HostWatch::Open openSrc(from, src.pinned != nullptr ? bytes : 0);
  return GuardedCopy(to, from, bytes);
}

bool MoveBytes(const char* api, const void* caller, const Copy& copy, const Side& dst,
               const Side& src, Refusal* refusal) {
  for (uint64_t row = 0; row < copy.height; ++row) {
    if (!CopyRow(dst, dst.bytes + row * copy.dstPitch, src, src.bytes + row * copy.srcPitch,
                 copy.width)) {
      *refusal = {"host-wrong-memory", src.device ? "dst" : "src",
                  Format("host memory is not accessible: dst %p (%llu bytes), src %p (%llu bytes)",
                         copy.dst, static_cast<Ull>(copy.DstBytes()), copy.src,
                         static_cast<Ull>(copy.SrcBytes())),
                  "pass memory that is mapped for all of the copy"};
      return false;
    }
    if (dst.device && CheckedMode()) {
      // Host bytes count as written: CopyGmShadow sees that they are no device memory.
      CopyGmShadow(dst.bytes + row * copy.dstPitch, src.bytes + row * copy.srcPitch, copy.width);
    } else if (src.device && CheckedMode()) {
      ReportUnwrittenRead(api, caller, src.bytes + row * copy.srcPitch, copy.width);
    }
  }
  return true;
}

// The memory that a kernel may use is known once it has run.
void SettleUses(const void* pointer, uint64_t bytes) {
  constexpr int32_t kPatienceMs =
      10000;  // a stream may wait for something that the caller has yet to do
  State& state = Global();
  for (const auto& [id, ticket] : state.pending.MayUse(pointer, bytes)) {
    std::shared_ptr<Stream> stream;
    {
      const std::lock_guard lock(state.mutex);
      const auto found = state.streams.find(id);
      stream = found != state.streams.end() ? found->second : nullptr;
    }
    if (stream != nullptr && !stream->OnWorker()) {
      stream->Wait(ticket, kPatienceMs);
    }
  }
}

// 0, or the error of a host access to memory that enqueued work still uses.
int32_t CheckSynchronized(const Api& api, const char* argument, const void* pointer, uint64_t pitch,
                          uint64_t width, uint64_t height, bool write) {
  if (!CheckedMode()) {
    return 0;
  }
  for (uint64_t row = 0; row < height; ++row) {
    const void* start = static_cast<const uint8_t*>(pointer) + row * pitch;
    SettleUses(start, width);
    const std::optional<PendingWork::Use> use = Global().pending.Conflict(start, width, write);
    if (use.has_value()) {
      const std::string verb = use->write ? "writes" : "reads";
      return api.Refuse(
          ACL_ERROR_RT_STREAM_NOT_COMPLETE, "host-unsynchronised", argument,
          Format("%s %p: %llu bytes are %s by the host, but stream %llu %s %llu bytes at %p "
                 "as %s of %s (task %llu), and nothing has waited for that",
                 argument, start, static_cast<Ull>(width), write ? "overwritten" : "read",
                 static_cast<Ull>(use->stream), verb.c_str(),
                 static_cast<Ull>(use->end - use->begin), reinterpret_cast<void*>(use->begin),
                 use->name.c_str(), use->by.c_str(), static_cast<Ull>(use->ticket)),
          "call aclrtSynchronizeStream on that stream first",
          {use->by, verb + " " + use->name + ", on a stream that nothing has waited for",
           use->caller});
    }
  }
  return 0;
}

int32_t CopyNow(const Api& api, const Copy& copy) {
  Side dst;
  Side src;
  Refusal refusal;
  if (!ResolveCopy(copy, &dst, &src, &refusal)) {
    return Refuse(api, refusal);
  }
  if (src.device || src.pinned != nullptr) {
    ACLSIM_RETURN_IF_ERROR(
        CheckSynchronized(api, "src", copy.src, copy.srcPitch, copy.width, copy.height, false));
  }
  if (dst.device || dst.pinned != nullptr) {
    ACLSIM_RETURN_IF_ERROR(
        CheckSynchronized(api, "dst", copy.dst, copy.dstPitch, copy.width, copy.height, true));
  }
  return MoveBytes(api.name(), api.caller(), copy, dst, src, &refusal) ? 0 : Refuse(api, refusal);
}

// Pageable memory may be gone or changed as soon as the call returns: the copy is waited for.
int32_t WaitForCopy(const Api& api, Stream& stream, uint64_t ticket) {
  stream.Wait(ticket, -1);
  Global().pending.Synchronized(stream.id(), ticket);
  const TaskResult failure = stream.TakeFailure();
  return failure.status == 0 ? 0 : api.FailText(failure.status, failure.message);
}

// A copy on a stream, between device memory and another side.
struct StreamCopy {
  const Copy& copy;
  Side dst;
  Side src;

  // Between rows there are bytes that the copy leaves alone.
  bool HasGaps() const {
    return copy.height > 1 && copy.width < std::max(copy.dstPitch, copy.srcPitch);
  }
  bool IsPageable() const {
    return (!dst.device && dst.pinned == nullptr) || (!src.device && src.pinned == nullptr);
  }
  uint64_t Watch(const Api& api) const {
    const Side& host = dst.device ? src : dst;
    if (!CheckedMode() || host.pinned == nullptr || HasGaps()) {
      return 0;
    }
    return HostWatch::Begin(host.pinned, host.bytes, dst.device ? copy.SrcBytes() : copy.DstBytes(),
                            &host == &dst, api.name(), api.caller());
  }
  std::vector<DeviceUse> Uses() const {
    std::vector<DeviceUse> uses;
    if (dst.device || dst.pinned != nullptr) {
      uses.push_back({copy.dst, copy.DstBytes(), true, HasGaps(), "dst"});
    }
    if (src.device || src.pinned != nullptr) {
      uses.push_back({copy.src, copy.SrcBytes(), false, HasGaps(), "src"});
    }
    return uses;
  }
};

int32_t CopyOnStream(const Api& api, const Copy& copy, aclrtStream handle) {
  int32_t error = 0;
  const std::shared_ptr<Stream> stream = FindStream(api, handle, &error);
  if (stream == nullptr) {
    return error;
  }
  StreamCopy task{copy, {}, {}};
  Refusal refusal;
  if (!ResolveCopy(copy, &task.dst, &task.src, &refusal)) {
    return Refuse(api, refusal);
  }
  if (!task.dst.device && !task.src.device) {
    return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "a copy from host to host cannot run on a stream; use aclrtMemcpy");
  }
  const uint64_t watch = task.Watch(api);
  uint64_t ticket = 0;
  // The pins go along, so that aclrtFreeHost before the copy has run leaves the memory to it.
  // Device pointers are looked up again: a block freed meanwhile is an error of the stream.
  error = stream->Enqueue(
      [copy, name = api.name(), caller = api.caller(),
       pins = std::make_pair(task.dst.pinned, task.src.pinned)]() -> TaskResult {
        Side to;
        Side from;
        Refusal reason;
        if (!ResolveCopy(copy, &to, &from, &reason) ||
            !MoveBytes(name, caller, copy, to, from, &reason)) {
          return {ACL_ERROR_RT_PARAM_INVALID, "asynchronous copy: " + reason.detail};
        }
        return {};
      },
      Stream::Run::kUnlessFailed, &ticket);
  HostWatch::Enqueued(watch, stream->id(), error != 0 ? 0 : ticket);
  if (error != 0) {
    HostWatch::Release(stream->id(), 0);
    return api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream->id()));
  }
  if (CheckedMode()) {
    ReportStreamRaces(
        Global().pending.Add(stream->id(), ticket, task.Uses(), api.name(), api.caller()));
  }
  return task.IsPageable() && !stream->OnWorker() ? WaitForCopy(api, *stream, ticket) : 0;
}

// Fills *copy; *nothing is set for an empty copy, which is a success.
int32_t PlainCopy(const Api& api, void* dst, size_t destMax, const void* src, size_t count,
                  aclrtMemcpyKind kind, Copy* copy, bool* nothing) {
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  *nothing = count == 0;
  if (*nothing) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(api.NotNull(dst, "dst"));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(src, "src"));
  *copy = {.dst = dst, .src = src, .width = count, .kind = FindKind(kind)};
  if (copy->kind == nullptr) {
    return api.Refuse(
        ACL_ERROR_INVALID_PARAM, "host-memcpy-kind", "kind",
        Format("kind is %d, want an aclrtMemcpyKind from 0 to 5", static_cast<int>(kind)),
        "pass ACL_MEMCPY_HOST_TO_DEVICE (1), DEVICE_TO_HOST (2) or "
        "DEVICE_TO_DEVICE (3)");
  }
  if (count > destMax) {
    return api.Refuse(ACL_ERROR_RT_PARAM_INVALID, "host-memcpy-size", "count",
                      Format("count is %zu, more than destMax, %zu", count, destMax),
                      "pass the size of dst as destMax and at most that as count");
  }
  std::shared_ptr<Context> context;
  return api.Current(&context);
}

int32_t Copy2d(const Api& api, void* dst, size_t dpitch, const void* src, size_t spitch,
               size_t width, size_t height, aclrtMemcpyKind kind, Copy* copy, bool* nothing) {
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  *nothing = width == 0 || height == 0;
  if (*nothing) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(api.NotNull(dst, "dst"));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(src, "src"));
  if (width > dpitch || width > spitch) {
    return api.Refuse(
        ACL_ERROR_INVALID_PARAM, "host-memcpy-size", "width",
        Format("width is %zu, more than dpitch (%zu) or spitch (%zu)", width, dpitch, spitch),
        "a pitch is the distance of two rows in bytes; pass at least the width");
  }
  uint64_t unused = 0;
  if (__builtin_mul_overflow(height, dpitch, &unused) ||
      __builtin_mul_overflow(height, spitch, &unused)) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "height %zu times a pitch (%zu, %zu) overflows",
                    height, dpitch, spitch);
  }
  if (kind != ACL_MEMCPY_HOST_TO_DEVICE && kind != ACL_MEMCPY_DEVICE_TO_HOST &&
      kind != ACL_MEMCPY_DEVICE_TO_DEVICE && kind != ACL_MEMCPY_DEFAULT) {
    return api.Refuse(ACL_ERROR_INVALID_PARAM, "host-memcpy-kind", "kind",
                      Format("kind is %d, want ACL_MEMCPY_HOST_TO_DEVICE (1), DEVICE_TO_HOST "
                             "(2), DEVICE_TO_DEVICE (3) or DEFAULT (4)",
                             static_cast<int>(kind)),
                      "pass the one that fits the pointers");
  }
  *copy = {dst, src, dpitch, spitch, width, height, FindKind(kind)};
  std::shared_ptr<Context> context;
  return api.Current(&context);
}

// False: host memory that is not accessible.
bool FillBytes(const Side& side, int32_t value, uint64_t bytes) {
  if (side.pinned != nullptr) {
    constexpr uint64_t kMostAtOnce = uint64_t{1} << 20;
    const std::vector<uint8_t> part(std::min(bytes, kMostAtOnce), static_cast<uint8_t>(value));
    uint64_t done = 0;
    while (done < bytes) {
      const uint64_t count = std::min<uint64_t>(part.size(), bytes - done);
      if (!HostWatch::CopyPast(side.bytes + done, part.data(), count)) {
        break;
      }
      done += count;
    }
    if (done == bytes) {
      return true;
    }
  }
  const HostWatch::Open open(side.bytes, side.pinned != nullptr ? bytes : 0);
  return GuardedFill(side.bytes, value, bytes);
}

bool FillNow(void* pointer, uint64_t bytes, int32_t value, Refusal* refusal) {
  Side side;
  if (!ResolveSide("devPtr", pointer, bytes, Place::kAny, "aclrtMemset", &side, refusal)) {
    return false;
  }
  if ((!side.device && side.pinned == nullptr) || !FillBytes(side, value, bytes)) {
    *refusal = {
        "host-wrong-memory", "devPtr",
        Format("devPtr %p is host memory; want memory of aclrtMalloc or aclrtMallocHost", pointer),
        "use memset for other host memory"};
    return false;
  }
  if (side.device && CheckedMode()) {
    MarkGm(side.bytes, bytes, true);
  }
  return true;
}

int32_t CheckFill(const Api& api, const void* pointer, size_t maxCount, size_t count) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "devPtr"));
  if (count > maxCount) {
    return api.Refuse(ACL_ERROR_RT_PARAM_INVALID, "host-memcpy-size", "count",
                      Format("count is %zu, more than maxCount, %zu", count, maxCount),
                      "pass the size of the memory as maxCount and at most that as count");
  }
  std::shared_ptr<Context> context;
  return api.Current(&context);
}

int32_t Fill(const Api& api, void* pointer, size_t maxCount, int32_t value, size_t count) {
  Refusal refusal;
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  if (count == 0) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(CheckFill(api, pointer, maxCount, count));
  ACLSIM_RETURN_IF_ERROR(CheckSynchronized(api, "devPtr", pointer, 0, count, 1, true));
  return FillNow(pointer, count, value, &refusal) ? 0 : Refuse(api, refusal);
}

int32_t FillOnStream(const Api& api, void* pointer, size_t maxCount, int32_t value, size_t count,
                     aclrtStream handle) {
  int32_t error = 0;
  const std::shared_ptr<Stream> stream = FindStream(api, handle, &error);
  if (stream == nullptr || count == 0) {
    return error;
  }
  ACLSIM_RETURN_IF_ERROR(CheckFill(api, pointer, maxCount, count));
  Side side;
  Refusal refusal;
  if (!ResolveSide("devPtr", pointer, count, Place::kAny, "aclrtMemset", &side, &refusal)) {
    return Refuse(api, refusal);
  }
  uint64_t ticket = 0;
  error = stream->Enqueue(
      [=, pin = side.pinned]() -> TaskResult {
        Refusal reason;
        return FillNow(pointer, count, value, &reason)
                   ? TaskResult{}
                   : TaskResult{ACL_ERROR_RT_PARAM_INVALID, "asynchronous fill: " + reason.detail};
      },
      Stream::Run::kUnlessFailed, &ticket);
  if (error != 0) {
    return api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream->id()));
  }
  if ((side.device || side.pinned != nullptr) && CheckedMode()) {
    ReportStreamRaces(Global().pending.Add(
        stream->id(), ticket, {{pointer, count, true, false, "devPtr"}}, api.name(), api.caller()));
  }
  return 0;
}

int32_t Allocate(const Api& api, void** pointer, size_t size) {
  std::shared_ptr<Context> context;
  std::string why;
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "devPtr"));
  if (size == 0) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "size is 0, want at least 1 byte");
  }
  ACLSIM_RETURN_IF_ERROR(api.Current(&context));
  const int32_t error = Global().device.Allocate(size, DeviceMemoryBytes(), context->device,
                                                 CheckedMode(), api.caller(), pointer, &why);
  return error == 0 ? 0 : api.FailText(error, why);
}

}  // namespace

void ReportPendingUses(const Api& api, const char* argument, const void* pointer, uint64_t bytes) {
  const auto start = reinterpret_cast<uintptr_t>(pointer);
  SettleUses(pointer, bytes);
  const bool device = Global().device.InRange(pointer);
  for (const PendingWork::Use& use : Global().pending.TakeBlock(start, bytes)) {
    const std::string verb = use.write ? "writes" : "reads";
    ReportMisuse(
        {"host-use-after-free",
         api.name(),
         argument,
         Format("%s %p: the block of %llu bytes is freed, but stream %llu %s %llu bytes of "
                "it as %s of %s (task %llu), and nothing has waited for that",
                argument, pointer, static_cast<Ull>(bytes), static_cast<Ull>(use.stream),
                verb.c_str(), static_cast<Ull>(use.end - use.begin), use.name.c_str(),
                use.by.c_str(), static_cast<Ull>(use.ticket)),
         device ? "call aclrtSynchronizeStream before the free, or aclrtFreeWithDevSync"
                : "call aclrtSynchronizeStream before the free",
         {use.by, verb + " " + use.name + ", on a stream that nothing has waited for",
          use.caller}});
  }
}

namespace {

// Says what has become of a block that is about to lose what it holds.
void ReportUses(const Api& api, void* pointer) {
  DeviceMemory& device = Global().device;
  if (const DeviceMemory::Block block = device.Find(pointer);
      CheckedMode() && block.start == reinterpret_cast<uintptr_t>(pointer)) {
    std::string why;
    ReportOverruns(api.name(), device.TakeOverruns(device.Resolve(pointer, 1, &why)), api.caller());
    ReportPendingUses(api, "devPtr", pointer, block.bytes);
  }
}

}  // namespace

void ReportHostUses(const Api& api, void* pointer) {
  const auto block = Global().host.Find(pointer);
  // A framework frees what it keeps when the process ends, whatever its streams still have.
  if (CheckedMode() && block != nullptr && block->start == pointer && !OfFramework(api.caller())) {
    ReportPendingUses(api, "hostPtr", pointer, block->bytes);
  }
  if (block != nullptr && block->start == pointer) {
    HostWatch::ReleaseBlock(*block);
  }
}

namespace {

int32_t RenewDevice(const Api& api, void* pointer) {
  std::string why;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "devPtr"));
  ReportUses(api, pointer);
  if (Global().device.Renew(pointer, &why) == 0) {
    return 0;
  }
  return api.Refuse(ACL_ERROR_RT_PARAM_INVALID, MistakeOf(pointer), "devPtr", "devPtr " + why,
                    "pass the pointer that aclrtMalloc returned");
}

int32_t FreeDevice(const Api& api, void* pointer) {
  std::string why;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "devPtr"));
  DeviceMemory& device = Global().device;
  ReportUses(api, pointer);
  const int32_t error = device.Free(pointer, api.name(), &why);
  if (error == 0) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  const bool freed = std::strcmp(MistakeOf(pointer), "host-use-after-free") == 0;
  return api.Refuse(error, freed ? "host-double-free" : "host-wrong-memory", "devPtr",
                    "devPtr " + why,
                    freed ? "free each block once" : "pass the pointer that aclrtMalloc returned");
}

}  // namespace

uint8_t* ToBacking(const void* devicePtr, uint64_t bytes, std::string* why) {
  std::string unread;
  return Global().device.Resolve(devicePtr, bytes, why != nullptr ? why : &unread);
}

const char* MistakeOf(const void* devicePtr) {
  const DeviceMemory& device = Global().device;
  if (!device.InRange(devicePtr)) {
    return "host-wrong-memory";
  }
  return device.WasFreed(devicePtr) ? "host-use-after-free" : "host-out-of-bounds";
}

namespace {

GmBlock BlockAt(const void* backing) {
  const DeviceMemory::Block block = Global().device.FindBacking(backing);
  const auto begin = reinterpret_cast<uint64_t>(block.contents);
  return {begin, begin + block.bytes};
}
const bool kBlocksKnown = (SetGmBlocks(&BlockAt), true);

}  // namespace

void FillAsNew(uint8_t* backing, uint64_t bytes) { Global().device.FillAsNew(backing, bytes); }

uint64_t DeviceBytesFrom(const void* devicePtr) {
  const DeviceMemory::Block block = Global().device.Find(devicePtr);
  return block.bytes == 0 ? 0
                          : block.bytes - (reinterpret_cast<uintptr_t>(devicePtr) - block.start);
}

// For a call that has nothing to do there.
static int32_t CheckStream(const Api& api, aclrtStream handle) {
  int32_t error = 0;
  FindStream(api, handle, &error);
  return error;
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Copy;
using aclsim::Enter;

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Enter(__func__, [&](const Api& api) { return aclsim::Allocate(api, devPtr, size); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Enter(__func__, [&](const Api& api) { return aclsim::Allocate(api, devPtr, size); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Enter(__func__, [&](const Api& api) { return aclsim::Allocate(api, devPtr, size); });
}

aclError aclrtFree(void* devPtr) {
  return Enter(__func__, [&](const Api& api) { return aclsim::FreeDevice(api, devPtr); });
}

int32_t aclsimRenew(void* devPtr) {
  return Enter(__func__, [&](const Api& api) { return aclsim::RenewDevice(api, devPtr); });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    const int32_t failure = aclrtSynchronizeDevice();
    const int32_t error = aclsim::FreeDevice(api, devPtr);
    return error != 0 ? error : failure;
  });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<aclsim::Context> context;
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.NotNull(hostPtr, "hostPtr"));
    if (size == 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "size is 0, want at least 1 byte");
    }
    ACLSIM_RETURN_IF_ERROR(api.Current(&context));
    void* memory = aclsim::Global().host.Allocate(size);
    if (memory == nullptr) {
      return api.Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host has no %zu bytes", size);
    }
    *hostPtr = memory;
    return 0;
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(hostPtr, "hostPtr"));
    aclsim::ReportHostUses(api, hostPtr);
    if (aclsim::Global().host.Free(hostPtr)) {
      return 0;
    }
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    return api.Refuse(ACL_ERROR_RT_PARAM_INVALID, "host-wrong-memory", "hostPtr",
                      "hostPtr " + aclsim::Global().device.Describe(hostPtr) +
                          "; want the start of a live block of aclrtMallocHost",
                      "free it once, with the function that fits: aclrtFree, aclrtFreeHost");
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (const int32_t unread = aclsim::TakeUnread();
        unread != 0 && aclsim::OfFramework(api.caller())) {
      return unread;
    }
    Copy copy;
    bool nothing = false;
    ACLSIM_RETURN_IF_ERROR(aclsim::PlainCopy(api, dst, destMax, src, count, kind, &copy, &nothing));
    return nothing ? 0 : aclsim::CopyNow(api, copy);
  });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    Copy copy;
    bool nothing = false;
    ACLSIM_RETURN_IF_ERROR(aclsim::PlainCopy(api, dst, destMax, src, count, kind, &copy, &nothing));
    return nothing ? aclsim::CheckStream(api, stream) : aclsim::CopyOnStream(api, copy, stream);
  });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    Copy copy;
    bool nothing = false;
    ACLSIM_RETURN_IF_ERROR(
        aclsim::Copy2d(api, dst, dpitch, src, spitch, width, height, kind, &copy, &nothing));
    return nothing ? 0 : aclsim::CopyNow(api, copy);
  });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    Copy copy;
    bool nothing = false;
    ACLSIM_RETURN_IF_ERROR(
        aclsim::Copy2d(api, dst, dpitch, src, spitch, width, height, kind, &copy, &nothing));
    return nothing ? aclsim::CheckStream(api, stream) : aclsim::CopyOnStream(api, copy, stream);
  });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::Fill(api, devPtr, maxCount, value, count); });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::FillOnStream(api, devPtr, maxCount, value, count, stream);
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<aclsim::Context> context;
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.NotNull(free, "free"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(total, "total"));
    if (static_cast<unsigned>(attr) > ACL_MEM_P2P_HUGE1G) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "attr is %d, want an aclrtMemAttr",
                      static_cast<int>(attr));
    }
    ACLSIM_RETURN_IF_ERROR(api.Current(&context));
    // The device has one memory, whatever kind is asked for.
    *total = aclsim::DeviceMemoryBytes();
    const uint64_t used = aclsim::Global().device.UsedBytes(context->device);
    *free = *total > used ? *total - used : 0;
    return 0;
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.NotNull(ptr, "ptr"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(attributes, "attributes"));
    const aclsim::State& state = aclsim::Global();
    *attributes = {};
    attributes->pageSize = 4096;
    if (state.device.Find(ptr).bytes != 0) {
      attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
      attributes->location.id = static_cast<uint32_t>(state.device.Find(ptr).device);
    } else if (state.host.Find(ptr) != nullptr) {
      attributes->location.type = ACL_MEM_LOCATION_TYPE_HOST;
    } else {
      attributes->location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    }
    return 0;
  });
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.NotNull(ptr, "ptr"));
    const aclsim::State& state = aclsim::Global();
    const auto block = state.device.Find(ptr);
    if (block.bytes == 0) {
      return api.FailText(ACL_ERROR_RT_PARAM_INVALID,
                          state.device.Describe(ptr) + "; want device memory of aclrtMalloc");
    }
    if (pbase != nullptr) {
      *pbase = reinterpret_cast<void*>(block.start);
    }
    if (psize != nullptr) {
      *psize = block.bytes;
    }
    return 0;
  });
}

}  // extern "C"
