// SPDX-License-Identifier: Apache-2.0
// Initialisation, the handle tables, fork and exit.
#include "runtime/state.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/options.h"
#include "findings/printed_findings.h"
#include "host/fork.h"
#include "runtime/callback.h"
#include "runtime/event.h"
#include "runtime/fault_handler.h"
#include "runtime/misuse.h"
#include "runtime/options.h"
#include "runtime/stream.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

// Not a canonical address, so that using a handle as a pointer faults instead of reading something.
constexpr uint64_t kHandleTag = 0x00AC'0000'0000'0000;
constexpr uint64_t kHandleKindShift = 40;
constexpr uint64_t kHandleStep = 16;  // handles look aligned
constexpr auto kExitPatience = std::chrono::seconds(5);
constexpr size_t kMaxStreams = 2048;

// A forked child's first handle is this far above the parent's, some of which may be made during the fork.
constexpr uint64_t kForkGap = 1ULL << 20;

PerProcess<State> current;

const char* KindName(HandleKind kind) {
  switch (kind) {
    case HandleKind::kContext:
      return "a context";
    case HandleKind::kStream:
      return "a stream";
    case HandleKind::kPhysical:
      return "a piece of physical memory";
    default:
      return "an event";
  }
}

// Stops the workers before the destructors of the program's libraries run under them.
void OnExit() {
  if (GlobalOrNull() == nullptr) {
    return;
  }
  const std::vector<std::shared_ptr<Stream>> streams = AllStreams();
  for (const auto& stream : streams) {
    if (stream->OnWorker()) {
      return;  // a host callback called exit(): its own stream can never become idle
    }
  }
  for (const auto& stream : streams) {
    stream->Abandon();
  }
  const auto deadline = std::chrono::steady_clock::now() + kExitPatience;
  for (const auto& stream : streams) {
    while (stream->Busy() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

int32_t CheckConfig(const Api& api, const char* path) {
  if (path == nullptr || *path == '\0') {
    return 0;
  }
  // Opening a pipe would wait for its writer.
  std::error_code error;
  std::ifstream file;
  if (std::filesystem::is_regular_file(path, error)) {
    file.open(path);
  }
  if (!file.is_open()) {
    return api.Fail(ACL_ERROR_INVALID_FILE,
                    "cannot read the configuration file %s; pass null to do without", path);
  }
  char first = '\0';
  if (!(file >> first) || first != '{') {
    return api.Fail(ACL_ERROR_PARSE_FILE,
                    "the configuration file %s holds no JSON object; want at least {}", path);
  }
  return 0;
}

const void* CallerOf(const Stream& stream) { return stream.caller(); }
const void* CallerOf(const Event& event) { return event.caller; }

LiveObjects ListBlocks(const std::vector<DeviceMemory::Block>& blocks) {
  LiveObjects list;
  uint64_t bytes = 0;
  for (const DeviceMemory::Block& block : blocks) {
    if (OfFramework(block.caller) || block.mapped) {
      continue;
    }
    bytes += block.bytes;
    ++list.count;
    if (list.first.size() < kLeakLines) {
      list.first.push_back(
          {Format("block %p of %llu bytes, allocation %llu", reinterpret_cast<void*>(block.start),
                  static_cast<Ull>(block.bytes), static_cast<Ull>(block.number)),
           "aclrtMalloc", block.caller});
    }
  }
  list.kind = Format("device block(s) of %llu bytes", static_cast<Ull>(bytes));
  return list;
}

LiveObjects ListPhysical(const std::vector<DeviceMemory::Block>& pieces) {
  LiveObjects list;
  list.kind = "piece(s) of physical memory";
  for (const DeviceMemory::Block& piece : pieces) {
    if (!OfFramework(piece.caller) && ++list.count <= kLeakLines) {
      list.first.push_back({Format("physical memory of %llu bytes", static_cast<Ull>(piece.bytes)),
                            "aclrtMallocPhysical", piece.caller});
    }
  }
  return list;
}

template <typename Objects, typename Skip>
LiveObjects ListHandles(const char* noun, const char* maker, const Objects& objects, Skip&& skip) {
  LiveObjects list;
  list.kind = std::string(noun) + "(s)";
  for (const auto& [id, object] : objects) {
    if (skip(object) || OfFramework(CallerOf(*object))) {
      continue;
    }
    if (++list.count <= kLeakLines) {
      list.first.push_back(
          {Format("%s %llu", noun, static_cast<Ull>(id)), maker, CallerOf(*object)});
    }
  }
  return list;
}

// Lists what the program still holds. Default streams belong to their contexts and are not the program's
// to destroy.
void ListLeaks(State& state, const void* caller) {
  std::vector<DeviceMemory::Block> blocks = state.device.Live();
  blocks.insert(blocks.end(), state.leaked.begin(), state.leaked.end());
  state.leaked.clear();
  const auto isDefault = [&](const std::shared_ptr<Stream>& stream) {
    const auto context = state.contexts.find(stream->contextId());
    return context != state.contexts.end() && context->second->defaultStream == stream;
  };
  std::vector<LiveObjects> leaks = {
      ListBlocks(blocks), ListPhysical(state.device.LivePhysical()),
      ListHandles("stream", "aclrtCreateStream", state.streams, isDefault),
      ListHandles("event", "aclrtCreateEvent", state.events, [](const auto&) { return false; })};
  for (LiveObjects& objects : ListObjects()) {
    leaks.push_back(std::move(objects));
  }
  ReportLeaks(leaks, caller);
}

int32_t FinaliseLocked(const Api& api, State& state) {
  if (CheckedMode()) {
    ReportOverruns(api.name(), state.device.TakeAllOverruns(), api.caller());
    ListLeaks(state, api.caller());
  }
  // A program that begins and ends again and again does not grow by what is kept to name its mistakes.
  const bool busy = std::any_of(state.streams.begin(), state.streams.end(),
                                [](const auto& stream) { return stream.second->Busy(); });
  if (!busy) {
    state.device.ForgetFreed();
    ForgetDestroyedObjects();
  }
  state.initCount = 0;
  state.ready = false;
  state.finalized = true;
  return 0;
}

int32_t NotInitialised(const Api& api, const State& state) {
  return state.finalized
             ? api.Fail(ACL_ERROR_REPEAT_FINALIZE, "already finalised; one aclFinalize per aclInit")
             : api.Fail(ACL_ERROR_UNINITIALIZE, "aclInit was not called");
}

}  // namespace

State* State::AfterFork(const State& parent) {
  auto* state = new State;
  state->lastId = state->inheritedIds = parent.lastId + kForkGap;
  state->device.Inherit(parent.device);
  return state;
}

State& Global() { return *current; }
State* GlobalOrNull() { return current.Peek(); }

bool RuntimeReady() {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  return state.ready;
}

int32_t PrepareLocked(const Api& api, State& state) {
  std::string why;
  int32_t error = ApplyEnvironment(&why);
  if (error == 0) {
    error = state.device.Reserve(DeviceMemoryBytes() * DeviceCount(), &why);
  }
  if (error != 0) {
    // Programs rarely print more than the code, and a wrong environment is not theirs to explain.
    PrintError(why);
    return api.FailText(error, why);
  }
  InstallFaultHandler();
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(OnExit); });
  return 0;
}

int32_t InitialiseLocked(const Api& api, State& state) {
  ACLSIM_RETURN_IF_ERROR(PrepareLocked(api, state));
  PrintFindingsOfProgram();
  state.ready = true;
  state.finalized = false;
  return 0;
}

void* ToHandle(HandleKind kind, uint64_t id) {
  return reinterpret_cast<void*>(kHandleTag | (static_cast<uint64_t>(kind) << kHandleKindShift) |
                                 (id * kHandleStep));
}

uint64_t FromHandle(HandleKind kind, const void* handle) {
  const auto value = reinterpret_cast<uint64_t>(handle);
  const uint64_t tag = kHandleTag | (static_cast<uint64_t>(kind) << kHandleKindShift);
  const uint64_t low = (1ULL << kHandleKindShift) - 1;
  return (value & ~low) == tag && value % kHandleStep == 0 ? (value & low) / kHandleStep : 0;
}

namespace {

// "0x... was destroyed", "0x... is an event", ...
std::string DescribeHandle(HandleKind wanted, const void* handle) {
  if (handle == nullptr) {
    return Format("a null handle, want %s", KindName(wanted));
  }
  for (const HandleKind kind :
       {HandleKind::kContext, HandleKind::kStream, HandleKind::kEvent, HandleKind::kPhysical}) {
    const uint64_t id = FromHandle(kind, handle);
    if (id != 0 && kind == wanted) {
      return Format("%p was %s (%llu) and was destroyed", handle, KindName(kind),
                    static_cast<Ull>(id));
    }
    if (id != 0) {
      return Format("%p is %s, want %s", handle, KindName(kind), KindName(wanted));
    }
  }
  return Format("%p is not %s", handle, KindName(wanted));
}

}  // namespace

int32_t RefuseHandle(const Api& api, HandleKind kind, const void* handle) {
  const char* article = KindName(kind);
  const std::string noun = std::strchr(article, ' ') + 1;
  const std::string detail = noun + " " + DescribeHandle(kind, handle);
  if (handle == nullptr) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "%s", detail.c_str());
  }
  const uint64_t id = FromHandle(kind, handle);
  if (id != 0 && id <= Global().inheritedIds) {
    return api.Refuse(ACL_ERROR_RT_INVALID_HANDLE, "host-wrong-handle", noun.c_str(),
                      Format("%s %p was made before the fork, and a child has none of its parent's",
                             noun.c_str(), handle),
                      "make one in the child, after aclInit and aclrtSetDevice");
  }
  if (id == 0) {
    return api.Refuse(ACL_ERROR_RT_INVALID_HANDLE, "host-wrong-handle", noun.c_str(), detail,
                      "pass " + std::string(article) + " that a create function returned");
  }
  const bool again = std::strstr(api.name(), "Destroy") != nullptr;
  return api.Refuse(ACL_ERROR_RT_INVALID_HANDLE, again ? "host-double-free" : "host-use-after-free",
                    noun.c_str(), detail,
                    again ? "destroy it once" : "destroy it after its last use");
}

std::shared_ptr<Event> FindEvent(const Api& api, const void* handle, int32_t* error) {
  State& state = Global();
  {
    const std::lock_guard lock(state.mutex);
    const auto it = state.events.find(FromHandle(HandleKind::kEvent, handle));
    if (it != state.events.end()) {
      return it->second;
    }
  }
  *error = RefuseHandle(api, HandleKind::kEvent, handle);
  return nullptr;
}

int32_t RefuseContext(const Api& api, const Stream& stream, const Context& current) {
  return api.Refuse(
      ACL_ERROR_RT_STREAM_CONTEXT, "host-wrong-handle", "stream",
      Format("stream %llu belongs to context %llu, the current context of this thread is %llu",
             static_cast<Ull>(stream.id()), static_cast<Ull>(stream.contextId()),
             static_cast<Ull>(current.id)),
      "call aclrtSetDevice or aclrtSetCurrentContext with the stream's own before it is used or "
      "destroyed",
      {"aclrtCreateStream", "made the stream", stream.caller()});
}

std::shared_ptr<Stream> FindStream(const Api& api, const void* handle, int32_t* error) {
  std::shared_ptr<Context> context;
  *error = api.Ready();
  if (*error == 0) {
    *error = api.Current(&context);
  }
  if (*error != 0) {
    return nullptr;
  }
  if (handle == nullptr) {
    return context->defaultStream;
  }
  std::shared_ptr<Stream> stream;
  State& state = Global();
  {
    const std::lock_guard lock(state.mutex);
    const auto it = state.streams.find(FromHandle(HandleKind::kStream, handle));
    if (it != state.streams.end()) {
      stream = it->second;
    }
  }
  if (stream == nullptr) {
    *error = RefuseHandle(api, HandleKind::kStream, handle);
  } else if (stream->contextId() != context->id) {
    *error = RefuseContext(api, *stream, *context);
    stream = nullptr;
  }
  return stream;
}

std::vector<std::shared_ptr<Stream>> AllStreams() {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  std::vector<std::shared_ptr<Stream>> all;
  for (const auto& [id, stream] : state.streams) {
    all.push_back(stream);
  }
  return all;
}

std::vector<std::shared_ptr<Stream>> StreamsOf(int32_t device) {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  std::vector<std::shared_ptr<Stream>> all;
  for (const auto& [id, stream] : state.streams) {
    const auto context = state.contexts.find(stream->contextId());
    if (context != state.contexts.end() && context->second->device == device) {
      all.push_back(stream);
    }
  }
  return all;
}

WaitLimit::WaitLimit() {
  State& state = Global();
  const std::lock_guard lock(state.mutex);
  seconds_ = state.waitLimitSeconds;
  end_ = std::chrono::steady_clock::now() + std::chrono::seconds(seconds_);
}

bool WaitLimit::Over() const { return seconds_ != 0 && std::chrono::steady_clock::now() >= end_; }

TaskResult WaitLimit::Result(const std::string& what) const {
  return {ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
          Format("%s in vain for %u seconds, the limit of aclrtSetOpWaitTimeout", what.c_str(),
                 seconds_)};
}

bool AnyStreamBusy() {
  const std::vector<std::shared_ptr<Stream>> streams = AllStreams();
  return std::any_of(streams.begin(), streams.end(),
                     [](const auto& stream) { return stream->Busy(); });
}

uint64_t AddStream(State& state, uint64_t contextId, uint32_t priority, uint32_t flags,
                   const void* caller) {
  if (state.streams.size() >= kMaxStreams) {
    return 0;
  }
  const uint64_t id = ++state.lastId;
  state.streams[id] = std::make_shared<Stream>(id, contextId, priority, flags, caller);
  return id;
}

void RemoveContext(uint64_t contextId) {
  State& state = Global();
  std::vector<std::shared_ptr<Stream>> closing;
  {
    const std::lock_guard lock(state.mutex);
    state.contexts.erase(contextId);
    for (auto it = state.streams.begin(); it != state.streams.end();) {
      if (it->second->contextId() == contextId) {
        closing.push_back(it->second);
        it = state.streams.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (const auto& stream : closing) {
    stream->Close(false);
    state.pending.Forget(stream->id());
    ForgetReports(stream->id());
  }
}

}  // namespace aclsim

using aclsim::Api;
using aclsim::Enter;
using aclsim::State;

extern "C" {

aclError aclInit(const char* configPath) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    if (state.initCount > 0) {
      ++state.initCount;
      return api.Fail(ACL_ERROR_REPEAT_INITIALIZE,
                      "already initialised; this call is counted, go on");
    }
    ACLSIM_RETURN_IF_ERROR(aclsim::CheckConfig(api, configPath));
    ACLSIM_RETURN_IF_ERROR(aclsim::InitialiseLocked(api, state));
    state.initCount = 1;
    return 0;
  });
}

aclError aclFinalize() {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    return state.ready ? aclsim::FinaliseLocked(api, state) : aclsim::NotInitialised(api, state);
  });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    State& state = aclsim::Global();
    const std::lock_guard lock(state.mutex);
    int32_t error = 0;
    if (!state.ready) {
      error = aclsim::NotInitialised(api, state);
    } else if (state.initCount > 1) {
      --state.initCount;
    } else {
      error = aclsim::FinaliseLocked(api, state);
    }
    if (refCount != nullptr) {
      *refCount = state.initCount;
    }
    return error;
  });
}

}  // extern "C"
