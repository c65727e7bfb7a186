// SPDX-License-Identifier: Apache-2.0
// The runtime knows these: contexts, streams, events, memory. Handles are numbers, never addresses
// of objects, so an unknown or destroyed handle is looked up in vain instead of being dereferenced.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "host/lock.h"
#include "runtime/device_memory.h"
#include "runtime/errors.h"
#include "runtime/host_memory.h"
#include "runtime/pending.h"

namespace aclsim {

class Stream;
struct Event;
struct Reports;

// A stream belongs to the context that was current when it was created; a null stream means
// defaultStream.
struct Context {
  uint64_t id = 0;
  int32_t device = 0;
  bool byDevice = false;  // made by aclrtSetDevice, shared by all threads that called it
  std::shared_ptr<Stream> defaultStream;
  std::map<int, int64_t> systemParameters;  // aclSysParamOpt
};

// This says how the process uses a device.
struct DeviceUsage {
  uint64_t refs = 0;       // aclrtSetDevice calls that wait for their aclrtResetDevice
  uint64_t contextId = 0;  // 0: the device is not in use
  std::array<uint32_t, 2> coreLimits{};  // by aclrtDevResLimitType; 0: none
  std::set<int32_t> peers;
};

struct State {
  // A forked child's: nothing is initialised, and no address or handle is one of the parent's.
  static State* AfterFork(const State& parent);

  Mutex<4, "state of the runtime"> mutex;
  uint64_t initCount = 0;
  bool ready = false;
  bool finalized = false;
  std::map<int32_t, DeviceUsage> devices;
  uint64_t lastId = 0;
  uint64_t inheritedIds = 0;  // up to here: handles of the process that this one was forked from
  std::map<uint64_t, std::shared_ptr<Context>> contexts;
  std::map<uint64_t, std::shared_ptr<Stream>> streams;  // default streams too
  std::map<uint64_t, std::shared_ptr<Event>> events;
  std::vector<DeviceMemory::Block> leaked;  // blocks that aclrtResetDevice had to free

  std::map<int, int64_t> systemParameters;  // of the process
  int saturation = 0;                       // aclrtFloatOverflowMode
  uint64_t executeLimitUs = 0;              // of an operator; 0: none was set
  uint32_t waitLimitSeconds = 0;            // of a stream that waits for an event; 0: none

  DeviceMemory device;
  HostMemory host;
  PendingWork pending;
  std::shared_ptr<Reports> reports;  // threads of aclrtSubscribeReport
};

// Never destroyed: stream threads run until the process is gone.
State& Global();
State* GlobalOrNull();  // while nobody has asked for it

enum class HandleKind : uint64_t { kContext = 1, kStream = 2, kEvent = 3, kPhysical = 4 };
void* ToHandle(HandleKind kind, uint64_t id);
uint64_t FromHandle(HandleKind kind, const void* handle);  // 0: not a handle of that kind
// nullptr after an error was reported; *error is its code.
std::shared_ptr<Event> FindEvent(const Api& api, const void* handle, int32_t* error);
// Also checks that the stream is one of the current context.
std::shared_ptr<Stream> FindStream(const Api& api, const void* handle, int32_t* error);

// An unknown, destroyed or foreign handle as a refusal.
int32_t RefuseHandle(const Api& api, HandleKind kind, const void* handle);

// A stream of another context than the thread's, as a refusal.
int32_t RefuseContext(const Api& api, const Stream& stream, const Context& current);

// Waits for the stream's work so far; returns the stream's error, with its message noted.
int32_t SynchronizeStream(const Api& api, Stream& stream, int32_t timeoutMs);
bool AnyStreamBusy();
std::vector<std::shared_ptr<Stream>> AllStreams();
std::vector<std::shared_ptr<Stream>> StreamsOf(int32_t device);

// Returns that of this thread; null without one.
std::shared_ptr<Context> CurrentContext();
// 0, or ACL_ERROR_RT_INVALID_DEVICEID.
int32_t CheckDevice(const Api& api, int64_t deviceId);
// Lists uses of [pointer, pointer + bytes) by enqueued work, when that memory is about to go.
void ReportHostUses(const Api& api, void* pointer);
void ReportPendingUses(const Api& api, const char* argument, const void* pointer, uint64_t bytes);

// Sets how long a stream may wait for what aclrtSetOpWaitTimeout limits, from now on.
class WaitLimit {
 public:
  WaitLimit();
  bool Over() const;
  TaskResult Result(const std::string& what) const;

 private:
  uint32_t seconds_ = 0;
  std::chrono::steady_clock::time_point end_;
};

// Adds a stream to a context. Returns its id, 0 when the device has no more.
uint64_t AddStream(State& state, uint64_t contextId, uint32_t priority, uint32_t flags,
                   const void* caller);
// Destroys every stream of the context and forgets the context. Waits for their work.
void RemoveContext(uint64_t contextId);

// Their memory is kept back for a while, so that a use after the end can be named.
void ForgetDestroyedDataBuffers();
void ForgetDestroyedDescriptions();

// Environment, address ranges, fault and exit handlers. state.mutex is held.
int32_t PrepareLocked(const Api& api, State& state);
// aclInit without the counting: the same, and acl* calls are allowed from here on.
int32_t InitialiseLocked(const Api& api, State& state);

}  // namespace aclsim
