// SPDX-License-Identifier: Apache-2.0
// Allocation, copies and fills: every pointer is looked up before a byte moves.
#include <cinttypes>

#include "engine/launch.h"
#include "runtime/fault_handler.h"
#include "runtime/options.h"
#include "runtime/state.h"
#include "runtime/stream.h"

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

// One side of a copy, ready to be read or written.
struct Side {
  uint8_t* bytes = nullptr;
  bool device = false;
  std::shared_ptr<const HostMemory::Block> pinned;  // null: device or pageable host memory
};

// False with the reason when the pointer is not what the copy wants.
bool ResolveSide(const char* argument, const void* pointer, uint64_t bytes, Place want,
                 const char* kind, Side* side, std::string* why) {
  State& state = Global();
  side->device = state.device.InRange(pointer);
  if (want != Place::kAny && side->device != (want == Place::kDevice)) {
    *why = FormatText("%s %s, but %s wants %s memory there", argument,
                      state.device.Describe(pointer).c_str(), kind,
                      want == Place::kDevice ? "device" : "host");
    return false;
  }
  if (side->device) {
    side->bytes = state.device.Resolve(pointer, bytes, why);
    if (side->bytes == nullptr) {
      *why = std::string(argument) + " " + *why;
    }
    return side->bytes != nullptr;
  }
  side->bytes = static_cast<uint8_t*>(const_cast<void*>(pointer));
  side->pinned = state.host.Find(pointer);
  if (side->pinned != nullptr) {
    const auto offset = static_cast<uint64_t>(side->bytes - side->pinned->start);
    const uint64_t left = side->pinned->bytes - offset;
    if (bytes > left) {
      *why = FormatText(
          "%s %p is byte %llu of the aclrtMallocHost block of %llu bytes; %llu bytes are wanted "
          "from there, it "
          "has %llu left",
          argument, pointer, static_cast<Ull>(offset), static_cast<Ull>(side->pinned->bytes),
          static_cast<Ull>(bytes), static_cast<Ull>(left));
      return false;
    }
  }
  return true;
}

bool ResolveCopy(const Copy& copy, Side* dst, Side* src, std::string* why) {
  return ResolveSide("dst", copy.dst, copy.DstBytes(), copy.kind->dst, copy.kind->name, dst, why) &&
         ResolveSide("src", copy.src, copy.SrcBytes(), copy.kind->src, copy.kind->name, src, why);
}

bool MoveBytes(const Copy& copy, const Side& dst, const Side& src, std::string* why) {
  for (uint64_t row = 0; row < copy.height; ++row) {
    if (!GuardedCopy(dst.bytes + row * copy.dstPitch, src.bytes + row * copy.srcPitch,
                     copy.width)) {
      *why = FormatText("host memory is not accessible: dst %p (%llu bytes), src %p (%llu bytes)",
                        copy.dst, static_cast<Ull>(copy.DstBytes()), copy.src,
                        static_cast<Ull>(copy.SrcBytes()));
      return false;
    }
  }
  return true;
}

int32_t CopyNow(const Api& api, const Copy& copy) {
  Side dst;
  Side src;
  std::string why;
  if (!ResolveCopy(copy, &dst, &src, &why) || !MoveBytes(copy, dst, src, &why)) {
    return api.FailText(ACL_ERROR_RT_PARAM_INVALID, why);
  }
  return 0;
}

int32_t CopyOnStream(const Api& api, const Copy& copy, aclrtStream handle) {
  int32_t error = 0;
  const std::shared_ptr<Stream> stream = FindStream(api, handle, &error);
  if (stream == nullptr) {
    return error;
  }
  Side dst;
  Side src;
  std::string why;
  if (!ResolveCopy(copy, &dst, &src, &why)) {
    return api.FailText(ACL_ERROR_RT_PARAM_INVALID, why);
  }
  if (!dst.device && !src.device) {
    return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "a copy from host to host cannot run on a stream; use aclrtMemcpy");
  }
  uint64_t ticket = 0;
  // The pins go along, so that aclrtFreeHost before the copy has run leaves the memory to it.
  // Device pointers are looked up again: a block freed meanwhile is an error of the stream.
  error = stream->Enqueue(
      [copy, pins = std::make_pair(dst.pinned, src.pinned)]() -> TaskResult {
        Side to;
        Side from;
        std::string reason;
        if (!ResolveCopy(copy, &to, &from, &reason) || !MoveBytes(copy, to, from, &reason)) {
          return {ACL_ERROR_RT_PARAM_INVALID, "asynchronous copy: " + reason};
        }
        return {};
      },
      Stream::Run::kUnlessFailed, &ticket);
  if (error != 0) {
    return api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream->id()));
  }
  const bool pageable =
      (!dst.device && dst.pinned == nullptr) || (!src.device && src.pinned == nullptr);
  if (!pageable || stream->OnWorker()) {
    return 0;
  }
  // Pageable memory may be gone or changed as soon as this returns.
  stream->Wait(ticket, -1);
  const TaskResult failure = stream->Failure();
  return failure.status == 0 ? 0 : api.FailText(failure.status, failure.message);
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
    return api.Fail(ACL_ERROR_INVALID_PARAM, "kind is %d, want an aclrtMemcpyKind from 0 to 5",
                    static_cast<int>(kind));
  }
  if (count > destMax) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "count is %zu, more than destMax, %zu", count,
                    destMax);
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
    return api.Fail(ACL_ERROR_INVALID_PARAM, "width is %zu, more than dpitch (%zu) or spitch (%zu)",
                    width, dpitch, spitch);
  }
  uint64_t unused = 0;
  if (__builtin_mul_overflow(height, dpitch, &unused) ||
      __builtin_mul_overflow(height, spitch, &unused)) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "height %zu times a pitch (%zu, %zu) overflows",
                    height, dpitch, spitch);
  }
  if (kind != ACL_MEMCPY_HOST_TO_DEVICE && kind != ACL_MEMCPY_DEVICE_TO_HOST &&
      kind != ACL_MEMCPY_DEVICE_TO_DEVICE && kind != ACL_MEMCPY_DEFAULT) {
    return api.Fail(ACL_ERROR_INVALID_PARAM,
                    "kind is %d, want ACL_MEMCPY_HOST_TO_DEVICE (1), DEVICE_TO_HOST (2), "
                    "DEVICE_TO_DEVICE (3) or DEFAULT (4)",
                    static_cast<int>(kind));
  }
  *copy = {dst, src, dpitch, spitch, width, height, FindKind(kind)};
  std::shared_ptr<Context> context;
  return api.Current(&context);
}

bool FillNow(void* pointer, uint64_t bytes, int32_t value, std::string* why) {
  Side side;
  if (!ResolveSide("devPtr", pointer, bytes, Place::kAny, "aclrtMemset", &side, why)) {
    return false;
  }
  if (!side.device && side.pinned == nullptr) {
    *why = FormatText("devPtr %p is host memory; want memory of aclrtMalloc or aclrtMallocHost",
                      pointer);
    return false;
  }
  if (!GuardedFill(side.bytes, value, bytes)) {
    *why = FormatText("%p is not accessible", pointer);
    return false;
  }
  return true;
}

int32_t CheckFill(const Api& api, const void* pointer, size_t maxCount, size_t count) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "devPtr"));
  if (count > maxCount) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "count is %zu, more than maxCount, %zu", count,
                    maxCount);
  }
  std::shared_ptr<Context> context;
  return api.Current(&context);
}

int32_t Fill(const Api& api, void* pointer, size_t maxCount, int32_t value, size_t count) {
  std::string why;
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  if (count == 0) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(CheckFill(api, pointer, maxCount, count));
  return FillNow(pointer, count, value, &why) ? 0 : api.FailText(ACL_ERROR_RT_PARAM_INVALID, why);
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
  std::string why;
  if (!ResolveSide("devPtr", pointer, count, Place::kAny, "aclrtMemset", &side, &why)) {
    return api.FailText(ACL_ERROR_RT_PARAM_INVALID, why);
  }
  error = stream->Enqueue([=, pin = side.pinned]() -> TaskResult {
    std::string reason;
    return FillNow(pointer, count, value, &reason)
               ? TaskResult{}
               : TaskResult{ACL_ERROR_RT_PARAM_INVALID, "asynchronous fill: " + reason};
  });
  return error == 0
             ? 0
             : api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream->id()));
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
  const int32_t error =
      Global().device.Allocate(size, DeviceMemoryBytes(), CheckedMode(), pointer, &why);
  return error == 0 ? 0 : api.FailText(error, why);
}

int32_t FreeDevice(const Api& api, const char* name, void* pointer) {
  std::string why;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "devPtr"));
  const int32_t error = Global().device.Free(pointer, name, &why);
  if (error == 0) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  return api.FailText(error, why);
}

}  // namespace

uint8_t* ToBacking(const void* devicePtr, uint64_t bytes, std::string* why) {
  std::string unread;
  return Global().device.Resolve(devicePtr, bytes, why != nullptr ? why : &unread);
}

uint64_t DeviceBytesFrom(const void* devicePtr) {
  const DeviceMemory::Block block = Global().device.Find(devicePtr);
  return block.bytes == 0 ? 0
                          : block.bytes - (reinterpret_cast<uintptr_t>(devicePtr) - block.start);
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
  return Enter(__func__,
               [&](const Api& api) { return aclsim::FreeDevice(api, "aclrtFree", devPtr); });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    const int32_t failure = aclrtSynchronizeDevice();
    const int32_t error = aclsim::FreeDevice(api, "aclrtFreeWithDevSync", devPtr);
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
    if (aclsim::Global().host.Free(hostPtr)) {
      return 0;
    }
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    const std::string what = aclsim::Global().device.Describe(hostPtr);
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%s; want the start of a live block of aclrtMallocHost", what.c_str());
  });
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
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
    return nothing ? 0 : aclsim::CopyOnStream(api, copy, stream);
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
    return nothing ? 0 : aclsim::CopyOnStream(api, copy, stream);
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
    const uint64_t used = aclsim::Global().device.UsedBytes();
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
