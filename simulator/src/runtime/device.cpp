// SPDX-License-Identifier: Apache-2.0
// Devices and contexts.
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/options.h"
#include "runtime/state.h"
#include "runtime/stream.h"
#include "soc/platform_values.h"
#include "soc/soc.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr uint32_t kDefaultStreamPriority = 0;

// This thread chose these. Ids are never used again within a process and its forks do not share
// them, so a stale id is simply not found.
struct ThreadChoice {
  const State* state;      // a forked child has another one
  uint64_t context;        // of aclrtSetCurrentContext or aclrtCreateContext
  uint64_t deviceContext;  // of aclrtSetDevice
};
thread_local ThreadChoice choice = {nullptr, 0, 0};

ThreadChoice& MyChoice() {
  const State* state = &Global();
  if (choice.state != state) {
    choice = {state, 0, 0};
  }
  return choice;
}

int32_t NewContextLocked(const Api& api, State& state, bool byDevice, int32_t device,
                         uint64_t* id) {
  auto context = std::make_shared<Context>();
  context->id = ++state.lastId;
  context->device = device;
  context->byDevice = byDevice;
  const uint64_t streamId = AddStream(state, context->id, kDefaultStreamPriority, 0, api.caller());
  if (streamId == 0) {
    return api.Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE,
                    "no stream is left for the context's default stream");
  }
  context->defaultStream = state.streams[streamId];
  state.contexts[context->id] = context;
  *id = context->id;
  return 0;
}

int32_t SetDevice(const Api& api, int32_t deviceId) {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  if (!state.ready) {
    // CANN's runtime starts up here as well when a program does without aclInit.
    ACLSIM_RETURN_IF_ERROR(InitialiseLocked(api, state));
  }
  ACLSIM_RETURN_IF_ERROR(CheckDevice(api, deviceId));
  DeviceUsage& usage = state.devices[deviceId];
  if (usage.contextId == 0) {
    ACLSIM_RETURN_IF_ERROR(NewContextLocked(api, state, true, deviceId, &usage.contextId));
  }
  ++usage.refs;
  MyChoice().deviceContext = usage.contextId;
  MyChoice().context = 0;
  return 0;
}

int32_t ResetDevice(const Api& api, int32_t deviceId, bool force) {
  State& state = Global();
  uint64_t contextId = 0;
  {
    const std::lock_guard lock(state.mutex);
    ACLSIM_RETURN_IF_ERROR(CheckDevice(api, deviceId));
    DeviceUsage& usage = state.devices[deviceId];
    if (usage.refs == 0) {
      return api.Fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                      "device %d is not in use; one reset per aclrtSetDevice", deviceId);
    }
    const auto& own = state.contexts.find(usage.contextId)->second->defaultStream;
    if (own->OnWorker()) {
      return api.Fail(ACL_ERROR_RT_INTERNAL_ERROR,
                      "called from a task of the default stream, which it would wait for");
    }
    usage.refs = force ? 0 : usage.refs - 1;
    if (usage.refs > 0) {
      return 0;
    }
    contextId = usage.contextId;
    usage = {};
  }
  RemoveContext(contextId);
  const std::lock_guard lock(state.mutex);
  const bool used = std::any_of(state.contexts.begin(), state.contexts.end(),
                                [&](const auto& one) { return one.second->device == deviceId; });
  if (!used) {
    const auto freed = state.device.FreeAll("aclrtResetDevice", deviceId);
    state.leaked.insert(state.leaked.end(), freed.begin(), freed.end());
  }
  return 0;
}

int32_t SynchronizeDevice(const Api& api, int32_t timeoutMs) {
  std::shared_ptr<Context> context;
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.Current(&context));
  int32_t first = 0;
  for (const auto& stream : StreamsOf(context->device)) {
    const int32_t error = SynchronizeStream(api, *stream, timeoutMs);
    first = first != 0 ? first : error;
  }
  return first;
}

int32_t HardwareSyncAddress(const Api& api, void** address) {
  ACLSIM_RETURN_IF_ERROR(api.Ready());
  ACLSIM_RETURN_IF_ERROR(api.NotNull(address, "addr"));
  constexpr uint32_t kArch = 2201;
  if (const Soc& soc = CurrentSoc(); soc.npuArch != kArch) {
    return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "%s has no flags between cores that have an address, which dav-%u has",
                    soc.name.c_str(), kArch);
  }
  *address = reinterpret_cast<void*>(kHardwareSyncAddress);
  return 0;
}

int32_t DeviceInfo(const Api& api, uint32_t deviceId, aclrtDevAttr attribute, int64_t* value) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
  ACLSIM_RETURN_IF_ERROR(CheckDevice(api, deviceId));
  const Soc& soc = CurrentSoc();
  switch (static_cast<int>(attribute)) {
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      *value = soc.aicCores;
      return 0;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = DeviceVectorCores();
      return 0;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
      *value = static_cast<int64_t>(soc.ubBytes);
      return 0;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(DeviceMemoryBytes());
      return 0;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      *value = static_cast<int64_t>(soc.l2Bytes);
      return 0;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = deviceId;
      return 0;
    case ACL_DEV_ATTR_IS_VIRTUAL:
      *value = 0;
      return 0;
    case ACL_DEV_ATTR_NPU_ARCH:
      *value = soc.npuArch;
      return 0;
    default:
      return api.Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                      "the simulator knows no device attribute %d", static_cast<int>(attribute));
  }
}

}  // namespace

int32_t CheckDevice(const Api& api, int64_t deviceId) {
  const uint32_t count = DeviceCount();
  if (deviceId >= 0 && deviceId < count) {
    return 0;
  }
  return count == 1
             ? api.Fail(ACL_ERROR_RT_INVALID_DEVICEID,
                        "device %lld does not exist; the simulator has device 0 only, and more "
                        "with ACLGRAD_DEVICES=N",
                        static_cast<long long>(deviceId))
             : api.Fail(ACL_ERROR_RT_INVALID_DEVICEID,
                        "device %lld does not exist; the simulator has devices 0 to %u "
                        "(ACLGRAD_DEVICES=%u)",
                        static_cast<long long>(deviceId), count - 1, count);
}

std::shared_ptr<Context> CurrentContext() {
  State& state = Global();
  const ThreadChoice& mine = MyChoice();
  const std::lock_guard lock(state.mutex);
  for (const uint64_t id : {mine.context, mine.deviceContext}) {
    if (const auto it = state.contexts.find(id); it != state.contexts.end()) {
      return it->second;
    }
  }
  return nullptr;
}

int32_t Api::Current(std::shared_ptr<Context>* context) const {
  *context = CurrentContext();
  if (*context != nullptr) {
    return 0;
  }
  return Fail(ACL_ERROR_RT_CONTEXT_NULL,
              "this thread has no context; call aclrtSetDevice(0) or aclrtSetCurrentContext");
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Context;
using aclsim::Enter;
using aclsim::HandleKind;
using aclsim::State;

extern "C" {

aclError aclrtSetDevice(int32_t deviceId) {
  return Enter(__func__, [&](const Api& api) { return aclsim::SetDevice(api, deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return Enter(__func__, [&](const Api& api) { return aclsim::ResetDevice(api, deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return Enter(__func__, [&](const Api& api) { return aclsim::ResetDevice(api, deviceId, true); });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    const std::vector<std::shared_ptr<aclsim::Stream>> streams = aclsim::StreamsOf(deviceId);
    for (const auto& stream : streams) {
      if (stream->OnWorker()) {
        return api.Fail(ACL_ERROR_RT_INTERNAL_ERROR, "called from a task of stream %llu itself",
                        static_cast<aclsim::Ull>(stream->id()));
      }
      stream->DropQueued();
    }
    for (const auto& stream : streams) {
      const uint64_t ticket = stream->LastTicket();
      const auto patience = static_cast<int32_t>(std::min<uint32_t>(timeout, INT32_MAX));
      if (!stream->Wait(ticket, timeout == 0 ? -1 : patience)) {
        return api.Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        "stream %llu is still at what it had begun after %u ms",
                        static_cast<aclsim::Ull>(stream->id()), timeout);
      }
      aclsim::Global().pending.Synchronized(stream->id(), ticket);
      stream->Forgive();
    }
    return 0;
  });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(deviceId, "deviceId"));
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    const std::shared_ptr<Context> context = aclsim::CurrentContext();
    if (context == nullptr) {
      return ACL_ERROR_RT_CONTEXT_NULL;  // CANN's runtime has this for an answer, not for an error
    }
    *deviceId = context->device;
    return 0;
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(count, "count"));
    *count = aclsim::DeviceCount();
    return 0;
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(runMode, "runMode"));
    *runMode = ACL_HOST;
    return 0;
  });
}

const char* aclrtGetSocName() {
  const char* name = nullptr;
  Enter("aclrtGetSocName", [&](const Api&) -> int32_t {
    name = aclsim::CurrentSoc().name.c_str();
    return 0;
  });
  return name;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::DeviceInfo(api, deviceId, attr, value); });
}

aclError aclrtGetHardwareSyncAddr(void** addr) {
  return Enter(__func__, [&](const Api& api) { return aclsim::HardwareSyncAddress(api, addr); });
}

// The rt functions are of the runtime below ACL.
ACL_FUNC_VISIBILITY int32_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(addr, "addr"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(len, "len"));
    void* found = nullptr;
    ACLSIM_RETURN_IF_ERROR(aclsim::HardwareSyncAddress(api, &found));
    *addr = reinterpret_cast<uint64_t>(found);
    *len = 0;
    return 0;
  });
}

ACL_FUNC_VISIBILITY int32_t rtGetSocSpec(const char* label, const char* key, char* val,
                                         uint32_t maxLen) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (label == nullptr || key == nullptr || val == nullptr) {
      const char* missing = label == nullptr ? "label" : key == nullptr ? "key" : "val";
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "%s is null", missing);
    }
    const auto values = aclsim::PlatformValues(label);
    const auto found = values ? values->find(key) : decltype(values->end()){};
    if (!values || found == values->end()) {
      // The platform library's own number: nothing turns it into one of ACL.
      constexpr int32_t kNotFound = 0x071A0001;
      return api.Fail(kNotFound, "the platform says nothing of \"%s\" in \"%s\"", key, label);
    }
    const std::string& text = found->second;
    if (maxLen < text.size() + 1) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "maxLen is %u, want %zu for \"%s\"", maxLen,
                      text.size() + 1, text.c_str());
    }
    std::memcpy(val, text.c_str(), text.size() + 1);
    return 0;
  });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    switch (deviceInfo) {
      case ACL_DEVICE_INFO_AI_CORE_NUM:
        return aclsim::DeviceInfo(api, deviceId, ACL_DEV_ATTR_AICORE_CORE_NUM, value);
      case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        return aclsim::DeviceInfo(api, deviceId, ACL_DEV_ATTR_VECTOR_CORE_NUM, value);
      case ACL_DEVICE_INFO_L2_SIZE:
        return aclsim::DeviceInfo(api, deviceId, ACL_DEV_ATTR_L2_CACHE_SIZE, value);
      default:
        return api.Fail(ACL_ERROR_INVALID_PARAM, "deviceInfo is %d, want ACL_DEVICE_INFO_*",
                        static_cast<int>(deviceInfo));
    }
  });
}

aclError aclrtSynchronizeDevice() {
  return Enter(__func__, [](const Api& api) { return aclsim::SynchronizeDevice(api, -1); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    if (timeout < -1) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "timeout is %d, want -1 (no limit) or milliseconds", timeout);
    }
    return aclsim::SynchronizeDevice(api, timeout);
  });
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(context, "context"));
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    uint64_t id = 0;
    ACLSIM_RETURN_IF_ERROR(aclsim::NewContextLocked(api, state, false, deviceId, &id));
    aclsim::MyChoice().context = id;
    *context = aclsim::ToHandle(HandleKind::kContext, id);
    return 0;
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(context, "context"));
    const uint64_t id = aclsim::FromHandle(HandleKind::kContext, context);
    {
      State& state = aclsim::Global();
      const std::lock_guard lock(state.mutex);
      const auto it = state.contexts.find(id);
      if (it == state.contexts.end()) {
        return aclsim::RefuseHandle(api, HandleKind::kContext, context);
      }
      if (it->second->byDevice) {
        return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                        "context %llu was made by aclrtSetDevice; aclrtResetDevice releases it",
                        static_cast<aclsim::Ull>(id));
      }
      for (const auto& [streamId, stream] : state.streams) {
        if (stream->contextId() == id && stream->OnWorker()) {
          return api.Fail(ACL_ERROR_RT_INTERNAL_ERROR,
                          "called from a task of stream %llu of this context",
                          static_cast<aclsim::Ull>(streamId));
        }
      }
    }
    aclsim::RemoveContext(id);
    return 0;
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(context, "context"));
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    const uint64_t id = aclsim::FromHandle(HandleKind::kContext, context);
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    if (state.contexts.count(id) == 0) {
      return aclsim::RefuseHandle(api, HandleKind::kContext, context);
    }
    aclsim::MyChoice().context = id;
    return 0;
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<Context> current;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(context, "context"));
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.Current(&current));
    *context = aclsim::ToHandle(HandleKind::kContext, current->id);
    return 0;
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<Context> current;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(stream, "stream"));
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(api.Current(&current));
    *stream = aclsim::ToHandle(HandleKind::kStream, current->defaultStream->id());
    return 0;
  });
}

}  // extern "C"
