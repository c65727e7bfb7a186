// SPDX-License-Identifier: Apache-2.0
// This has what a device or a stream leaves of its cores, devices beside one another, and what is asked of a device's memory.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/state.h"
#include "runtime/stream.h"
#include "soc/select.h"

namespace aclsim {

namespace {

// aclrtUseStreamResInCurrentThread sets this.
thread_local std::weak_ptr<Stream> limitingStream;

uint32_t CoreLimit(aclrtDevResLimitType type) {
  if (GlobalOrNull() == nullptr) {
    return 0;
  }
  if (const std::shared_ptr<Stream> stream = limitingStream.lock()) {
    if (const uint32_t limit = stream->attributes().coreLimits.at(type); limit != 0) {
      return limit;
    }
  }
  const std::shared_ptr<Context> context = CurrentContext();
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  const auto usage = context == nullptr ? state.devices.end() : state.devices.find(context->device);
  return usage == state.devices.end() ? 0 : usage->second.coreLimits.at(type);
}

int32_t CoresOf(const Api& api, aclrtDevResLimitType type, uint32_t* all) {
  if (static_cast<unsigned>(type) > ACL_RT_DEV_RES_VECTOR_CORE) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "type is %d, want an aclrtDevResLimitType of 0 or 1",
                    static_cast<int>(type));
  }
  *all = type == ACL_RT_DEV_RES_CUBE_CORE ? CurrentSoc().aicCores : DeviceVectorCores();
  return 0;
}

int32_t CheckCores(const Api& api, aclrtDevResLimitType type, uint32_t value) {
  uint32_t all = 0;
  ACLSIM_RETURN_IF_ERROR(CoresOf(api, type, &all));
  return value > 0 && value <= all
             ? 0
             : api.Fail(ACL_ERROR_RT_PARAM_INVALID, "value is %u cores, want 1 to %u", value, all);
}

// The limit of a device's own, or all its cores.
int32_t DeviceLimit(const Api& api, int32_t device, aclrtDevResLimitType type, uint32_t* value) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
  ACLSIM_RETURN_IF_ERROR(CheckDevice(api, device));
  ACLSIM_RETURN_IF_ERROR(CoresOf(api, type, value));
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  if (const uint32_t limit = state.devices[device].coreLimits.at(type); limit != 0) {
    *value = limit;
  }
  return 0;
}

int32_t CheckPeer(const Api& api, int32_t peer, std::shared_ptr<Context>* context) {
  ACLSIM_RETURN_IF_ERROR(api.Current(context));
  ACLSIM_RETURN_IF_ERROR(CheckDevice(api, peer));
  return peer != (*context)->device
             ? 0
             : api.Fail(ACL_ERROR_RT_INVALID_DEVICEID,
                        "peerDeviceId is %d, the current device itself", peer);
}

}  // namespace

uint32_t VectorCoreLimit() { return CoreLimit(ACL_RT_DEV_RES_VECTOR_CORE); }
uint32_t CubeCoreLimit() { return CoreLimit(ACL_RT_DEV_RES_CUBE_CORE); }

}  // namespace aclsim

using aclsim::Api;
using aclsim::Context;
using aclsim::Enter;
using aclsim::State;

extern "C" {

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckCores(api, type, value));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.devices[deviceId].coreLimits.at(type) = value;
    return 0;
  });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return Enter(__func__,
               [&](const Api& api) { return aclsim::DeviceLimit(api, deviceId, type, value); });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.devices[deviceId].coreLimits = {};
    return 0;
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<aclsim::Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckCores(api, type, value));
    found->attributes().coreLimits.at(type) = value;
    return 0;
  });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    std::shared_ptr<Context> context;
    const std::shared_ptr<aclsim::Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    ACLSIM_RETURN_IF_ERROR(api.Current(&context));
    ACLSIM_RETURN_IF_ERROR(aclsim::DeviceLimit(api, context->device, type, value));
    if (const uint32_t limit = found->attributes().coreLimits.at(type); limit != 0) {
      *value = limit;
    }
    return 0;
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<aclsim::Stream> found = aclsim::FindStream(api, stream, &error);
    if (found == nullptr) {
      return error;
    }
    for (std::atomic<uint32_t>& limit : found->attributes().coreLimits) {
      limit = 0;
    }
    return 0;
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    const std::shared_ptr<aclsim::Stream> found = aclsim::FindStream(api, stream, &error);
    if (found != nullptr) {
      aclsim::limitingStream = found;
    }
    return error;
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    int32_t error = 0;
    if (aclsim::FindStream(api, stream, &error) != nullptr) {
      aclsim::limitingStream.reset();
    }
    return error;
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    uint32_t all = 0;
    ACLSIM_RETURN_IF_ERROR(api.NotNull(value, "value"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CoresOf(api, type, &all));
    const uint32_t limit = aclsim::CoreLimit(type);
    *value = limit == 0 ? all : limit;
    return 0;
  });
}

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(canAccessPeer, "canAccessPeer"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, peerDeviceId));
    *canAccessPeer = deviceId != peerDeviceId ? 1 : 0;
    return 0;
  });
}

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<Context> context;
    if (flags != 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "flags is %u, want 0 (others are reserved)", flags);
    }
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckPeer(api, peerDeviceId, &context));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    state.devices[context->device].peers.insert(peerDeviceId);
    return 0;
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    std::shared_ptr<Context> context;
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckPeer(api, peerDeviceId, &context));
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    if (state.devices[context->device].peers.erase(peerDeviceId) == 0) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID,
                      "access to device %d is not enabled; call aclrtDeviceEnablePeerAccess first",
                      peerDeviceId);
    }
    return 0;
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(pid, "pid"));
    *pid = getpid();
    return 0;
  });
}

// These are the same for every process: what SoC, and which of its devices.
aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(uuid, "uuid"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    *uuid = {};
    const std::string name = aclsim::CurrentSoc().name;
    constexpr size_t kNumber = sizeof(uuid->bytes) - 1;
    name.copy(uuid->bytes, kNumber);
    uuid->bytes[kNumber] = static_cast<char>(deviceId);
    return 0;
  });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(logicDevId, "logicDevId"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, userDevid));
    *logicDevId = userDevid;
    return 0;
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(active, "active"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    if (flags != nullptr) {
      return api.Fail(ACL_ERROR_RT_PARAM_INVALID, "flags is not null; it is reserved");
    }
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    *active = state.devices[deviceId].contextId != 0 ? 1 : 0;
    return 0;
  });
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                              size_t* outputNum) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.NotNull(memUsageInfo, "memUsageInfo"));
    ACLSIM_RETURN_IF_ERROR(api.NotNull(outputNum, "outputNum"));
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckDevice(api, deviceId));
    if (inputNum == 0) {
      return api.Fail(ACL_ERROR_INVALID_PARAM, "inputNum is 0, want at least 1");
    }
    const aclsim::DeviceMemory& memory = aclsim::Global().device;
    *memUsageInfo = {};
    std::strcpy(memUsageInfo->name, "APP");  // all that there is: the program's own
    memUsageInfo->curMemSize = memory.UsedBytes(deviceId);
    memUsageInfo->memPeakSize = memory.PeakBytes(deviceId);
    *outputNum = 1;
    return 0;
  });
}

}  // extern "C"
