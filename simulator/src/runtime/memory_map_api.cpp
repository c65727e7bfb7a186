// SPDX-License-Identifier: Apache-2.0
// The functions of virtual memory, of host memory that others made, and of batches.
#include <atomic>
#include <thread>

#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "runtime/misuse.h"
#include "runtime/options.h"
#include "runtime/state.h"
#include "runtime/stream.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr size_t kGranularity = 2ULL << 20;

int32_t CheckFlags(const Api& api, uint64_t flags, const char* argument = "flags") {
  return flags == 0
             ? 0
             : api.Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is %llu, want 0 (others are reserved)",
                        argument, static_cast<Ull>(flags));
}

int32_t MallocPhysical(const Api& api, aclrtDrvMemHandle* handle, size_t size,
                       const aclrtPhysicalMemProp* prop) {
  std::shared_ptr<Context> context;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, "handle"));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(prop, "prop"));
  ACLSIM_RETURN_IF_ERROR(api.Current(&context));
  if (prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "physical memory of the host (location type %d) is not simulated. Next: use "
                    "aclrtMallocHost",
                    static_cast<int>(prop->location.type));
  }
  ACLSIM_RETURN_IF_ERROR(CheckDevice(api, prop->location.id));
  State& state = Global();
  uint64_t id = 0;
  {
    const std::lock_guard lock(state.mutex);
    id = ++state.lastId;
  }
  std::string why;
  const int32_t error = state.device.AllocatePhysical(
      size, DeviceMemoryBytes(), static_cast<int32_t>(prop->location.id), api.caller(), id, &why);
  if (error != 0) {
    return api.FailText(error, why);
  }
  *handle = ToHandle(HandleKind::kPhysical, id);
  return 0;
}

int32_t MapMemory(const Api& api, void* pointer, size_t size, size_t offset,
                  aclrtDrvMemHandle handle) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "virPtr"));
  ACLSIM_RETURN_IF_ERROR(CheckFlags(api, offset, "offset"));
  State& state = Global();
  const uint64_t id = FromHandle(HandleKind::kPhysical, handle);
  if (!state.device.HasPhysical(id)) {
    return RefuseHandle(api, HandleKind::kPhysical, handle);
  }
  std::string why;
  const int32_t error = state.device.Map(pointer, size, id, CheckedMode(), &why);
  return error == 0 ? 0 : api.FailText(error, "virPtr " + why);
}

int32_t UnmapMemory(const Api& api, void* pointer) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "virPtr"));
  State& state = Global();
  if (CheckedMode()) {
    ReportPendingUses(api, "virPtr", pointer, state.device.MappedBytes(pointer));
  }
  uint64_t bytes = 0;
  std::string why;
  const int32_t error = state.device.Unmap(pointer, &bytes, &why);
  return error == 0 ? 0 : api.FailText(error, "virPtr " + why);
}

int32_t RegisterHost(const Api& api, void* pointer, uint64_t size) {
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.NotNull(pointer, "ptr"));
  if (size == 0) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "size is 0, want at least 1 byte");
  }
  State& state = Global();
  if (state.device.InRange(pointer)) {
    return api.FailText(ACL_ERROR_RT_PARAM_INVALID,
                        "ptr " + state.device.Describe(pointer) + "; want host memory");
  }
  return state.host.Register(pointer, size)
             ? 0
             : api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                        "ptr %p: some of these %llu bytes are registered, or of aclrtMallocHost, "
                        "already",
                        pointer, static_cast<Ull>(size));
}

int32_t NoDevicePointer(const Api& api) {
  return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "the simulator cannot give host memory of the program's own a device address. "
                  "Next: register it with ACL_HOST_REG_PINNED, or copy it to device memory");
}

const char* LocationName(aclrtMemLocationType type) {
  return type == ACL_MEM_LOCATION_TYPE_DEVICE ? "device" : "host";
}

// Runs copy(i, kind) for each; *failIndex is that of the first which fails.
template <typename CopyOne>
int32_t Batch(const Api& api, size_t count, const aclrtMemcpyBatchAttr* attrs,
              const size_t* attrsIndexes, size_t numAttrs, size_t* failIndex, CopyOne&& copy) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(failIndex, "failIndex"));
  *failIndex = SIZE_MAX;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(attrs, "attrs"));
  ACLSIM_RETURN_IF_ERROR(api.NotNull(attrsIndexes, "attrsIndexes"));
  if (count == 0 || numAttrs == 0 || numAttrs > count || attrsIndexes[0] != 0) {
    return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                    "%zu copies and %zu attributes, the first for copy %zu; want 1 to as many "
                    "attributes as copies, the first for copy 0",
                    count, numAttrs, numAttrs == 0 ? 0 : attrsIndexes[0]);
  }
  size_t attr = 0;
  for (size_t i = 0; i < count; ++i) {
    while (attr + 1 < numAttrs && attrsIndexes[attr + 1] <= i) {
      ++attr;
    }
    const aclrtMemLocationType to = attrs[attr].dstLoc.type;
    const aclrtMemLocationType from = attrs[attr].srcLoc.type;
    *failIndex = i;
    if (static_cast<unsigned>(to) > ACL_MEM_LOCATION_TYPE_DEVICE ||
        static_cast<unsigned>(from) > ACL_MEM_LOCATION_TYPE_DEVICE || to == from) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "copy %zu goes from %s (%d) to %s (%d), want between host and device", i,
                      LocationName(from), static_cast<int>(from), LocationName(to),
                      static_cast<int>(to));
    }
    ACLSIM_RETURN_IF_ERROR(copy(i, to == ACL_MEM_LOCATION_TYPE_DEVICE ? ACL_MEMCPY_HOST_TO_DEVICE
                                                                      : ACL_MEMCPY_DEVICE_TO_HOST));
  }
  *failIndex = SIZE_MAX;
  return 0;
}

bool Holds(uint64_t value, uint64_t wanted, uint32_t flag) {
  switch (flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
      return value >= wanted;
    case ACL_STREAM_WAIT_VALUE_EQ:
      return value == wanted;
    case ACL_STREAM_WAIT_VALUE_AND:
      return (value & wanted) != 0;
    default:
      return ~(value | wanted) != 0;
  }
}

// The word in device memory; null with the reason.
std::atomic<uint64_t>* WordAt(const void* address, std::string* why) {
  constexpr size_t kWord = sizeof(uint64_t);
  if (reinterpret_cast<uintptr_t>(address) % kWord != 0) {
    *why = Format("%p, want a multiple of %zu", address, kWord);
    return nullptr;
  }
  return reinterpret_cast<std::atomic<uint64_t>*>(Global().device.Resolve(address, kWord, why));
}

int32_t EnqueueValue(const Api& api, void* address, aclrtStream handle, bool write,
                     std::function<TaskResult(Stream&)> task) {
  int32_t error = 0;
  std::string why;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(address, "devAddr"));
  const std::shared_ptr<Stream> stream = FindStream(api, handle, &error);
  if (stream == nullptr) {
    return error;
  }
  if (WordAt(address, &why) == nullptr) {
    return api.FailText(ACL_ERROR_RT_PARAM_INVALID, "devAddr " + why);
  }
  uint64_t ticket = 0;
  error = stream->Enqueue([task = std::move(task), worker = stream.get()] { return task(*worker); },
                          Stream::Run::kUnlessFailed, &ticket);
  if (error != 0) {
    return api.Fail(error, "stream %llu takes no more work", static_cast<Ull>(stream->id()));
  }
  if (write && CheckedMode()) {
    Global().pending.Add(stream->id(), ticket,
                         {{address, sizeof(uint64_t), true, false, "devAddr"}}, api.name(),
                         api.caller());
  } else if (!write) {
    Global().pending.AddValueWait(stream->id());
  }
  return 0;
}

TaskResult WriteValue(void* address, uint64_t value) {
  std::string why;
  std::atomic<uint64_t>* const word = WordAt(address, &why);
  if (word == nullptr) {
    return {ACL_ERROR_RT_PARAM_INVALID, "aclrtValueWrite: devAddr " + why};
  }
  word->store(value);
  if (CheckedMode()) {
    MarkGm(reinterpret_cast<uint8_t*>(word), sizeof(uint64_t), true);
  }
  return {};
}

TaskResult WaitForValue(const void* address, uint64_t value, uint32_t flag, Stream& stream) {
  constexpr auto kPoll = std::chrono::microseconds(50);
  const WaitLimit limit;
  while (!stream.abandoned()) {
    std::string why;
    const std::atomic<uint64_t>* const word = WordAt(address, &why);
    if (word == nullptr) {
      return {ACL_ERROR_RT_PARAM_INVALID, "aclrtValueWait: devAddr " + why};
    }
    if (Holds(word->load(), value, flag)) {
      return {};
    }
    if (limit.Over()) {
      return limit.Result(
          Format("stream %llu waits for the value at %p", static_cast<Ull>(stream.id()), address));
    }
    std::this_thread::sleep_for(kPoll);
  }
  return {};
}

}  // namespace

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;
using aclsim::HandleKind;

extern "C" {

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void*,
                                uint64_t flags) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.NotNull(virPtr, "virPtr"));
    constexpr uint64_t kHugePages = 1;
    if (size == 0 || (alignment & (alignment - 1)) != 0 || flags > kHugePages) {
      return api.Fail(
          ACL_ERROR_RT_PARAM_INVALID,
          "size %zu, alignment %zu, flags %llu: want a size, 0 or a power of two, and 0 or 1", size,
          alignment, static_cast<aclsim::Ull>(flags));
    }
    std::string why;
    const int32_t error =
        aclsim::Global().device.ReserveRange(size, alignment, api.caller(), virPtr, &why);
    return error == 0 ? 0 : api.FailText(error, why);
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(virPtr, "virPtr"));
    std::string why;
    const int32_t error = aclsim::Global().device.ReleaseRange(virPtr, &why);
    return error == 0 ? 0 : api.FailText(error, "virPtr " + why);
  });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckFlags(api, flags));
    return aclsim::MallocPhysical(api, handle, size, prop);
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(handle, "handle"));
    return aclsim::Global().device.FreePhysical(aclsim::FromHandle(HandleKind::kPhysical, handle))
               ? 0
               : aclsim::RefuseHandle(api, HandleKind::kPhysical, handle);
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckFlags(api, flags));
    return aclsim::MapMemory(api, virPtr, size, offset, handle);
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return Enter(__func__, [&](const Api& api) { return aclsim::UnmapMemory(api, virPtr); });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions,
                                          size_t* granularity) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(prop, "prop"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(granularity, "granularity"));
    *granularity = aclsim::kGranularity;
    return 0;
  });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    for (size_t i = 0; cfg != nullptr && i < cfg->numAttrs; ++i) {
      if (cfg->attrs[i].attr == ACL_RT_MEM_ATTR_VA_FLAG && cfg->attrs[i].value.vaFlag != 0) {
        return aclsim::NoDevicePointer(api);
      }
    }
    return aclrtMallocHost(ptr, size);
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t, aclrtHostRegisterType, void** devPtr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(ptr, "ptr"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(devPtr, "devPtr"));
    return aclsim::NoDevicePointer(api);
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if ((flag & ~ACL_HOST_REG_PINNED) != 0) {
      return aclsim::NoDevicePointer(api);
    }
    return aclsim::RegisterHost(api, ptr, size);
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(ptr, "ptr"));
    aclsim::ReportHostUses(api, ptr);
    return aclsim::Global().host.Unregister(ptr)
               ? 0
               : api.Fail(
                     ACL_ERROR_RT_PARAM_INVALID,
                     "ptr %p is not registered; pass the start of what aclrtHostRegisterV2 got",
                     ptr);
  });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIndex) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::Batch(api, numBatches, attrs, attrsIndexes, numAttrs, failIndex,
                         [&](size_t i, aclrtMemcpyKind kind) {
                           return aclrtMemcpy(dsts[i], destMaxs[i], srcs[i], sizes[i], kind);
                         });
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) {
    return aclsim::Batch(api, numBatches, attrs, attrsIndexes, numAttrs, failIndex,
                         [&](size_t i, aclrtMemcpyKind kind) {
                           return aclrtMemcpyAsync(dsts[i], destMaxs[i], srcs[i], sizes[i], kind,
                                                   stream);
                         });
  });
}

// Copies on a stream are complete at once where the host's memory is not pinned.
aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, destMax, src, count, kind, stream);
}

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckFlags(api, flag, "flag"));
    return aclsim::EnqueueValue(api, devAddr, stream, true, [=](aclsim::Stream&) {
      return aclsim::WriteValue(devAddr, value);
    });
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "flag is %u, want ACL_STREAM_WAIT_VALUE_* (0 to 3)", flag);
    }
    return aclsim::EnqueueValue(api, devAddr, stream, false, [=](aclsim::Stream& on) {
      return aclsim::WaitForValue(devAddr, value, flag, on);
    });
  });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    std::string why;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(src, "src"));
    if (aclsim::FindStream(api, stream, &error) == nullptr) {
      return error;
    }
    if (static_cast<unsigned>(cmoType) > ACL_RT_CMO_TYPE_FLUSH) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "cmoType is %d, want an aclrtCmoType of 0 to 3",
                      static_cast<int>(cmoType));
    }
    // The cache of the device holds no values of its own here, so there is nothing to move.
    return aclsim::Global().device.Resolve(src, size, &why) != nullptr
               ? 0
               : api.FailText(ACL_ERROR_RT_PARAM_INVALID, "src " + why);
  });
}

}  // extern "C"
