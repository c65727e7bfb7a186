// SPDX-License-Identifier: Apache-2.0
// The functions of hccl.h: what each sends, receives and reduces.
#include "hccl/hccl.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aclsim/aclsim.h"
#include "hccl/calls.h"
#include "hccl/communicator.h"
#include "hccl/reduce.h"
#include "host/fork.h"
#include "runtime/errors.h"
#include "runtime/state.h"

namespace aclsim {

namespace {

using Ull = unsigned long long;

constexpr int32_t kConnectSeconds = 120;   // HCCL_CONNECT_TIMEOUT
constexpr int32_t kExecuteSeconds = 1836;  // HCCL_EXEC_TIMEOUT
constexpr uint64_t kMostElements = uint64_t{1} << 44;
constexpr const char* kSetDevice =
    "call aclrtSetDevice(rank) before, with as many devices as ranks (ACLGRAD_DEVICES, aclgrad "
    "exec "
    "--devices)";

struct Communicators {
  Mutex<6, "communicators"> mutex;
  std::map<uint64_t, std::shared_ptr<Communicator>> all;
  std::map<std::string, std::shared_ptr<SharedMemory>> roots;  // until every rank has opened them
  uint64_t last = 0;
};
PerProcess<Communicators> communicators;

std::atomic<int32_t> deterministic{0};

constexpr uint64_t kHandle = 0x4843434c00000000;  // "HCCL"

std::shared_ptr<Communicator> Find(const Api& api, HcclComm comm) {
  const uint64_t id = reinterpret_cast<uintptr_t>(comm) - kHandle;
  const std::lock_guard lock(communicators->mutex);
  const auto found = communicators->all.find(id);
  if (found == communicators->all.end()) {
    api.Fail(HCCL_E_PARA, "comm is %p, want a live communicator of this process", comm);
    return nullptr;
  }
  return found->second;
}

// Sends and receives between HcclGroupStart and HcclGroupEnd: they begin together.
struct Group {
  struct Part {
    HcclComm comm;
    aclrtStream stream;
    std::vector<HcclSendRecvItem> items;
  };
  uint32_t depth = 0;
  std::vector<Part> parts;
};
thread_local Group group;

// An error of the runtime as one of HCCL's.
HcclResult AsHccl(int32_t error) {
  return static_cast<HcclResult>(error <= HCCL_E_RESERVED ? error : +HCCL_E_RUNTIME);
}

template <typename Body>
[[gnu::always_inline]] inline HcclResult Call(const char* name, Body&& body) {
  return AsHccl(Enter(name, body));
}

template <typename Body>
[[gnu::always_inline]] inline HcclResult CallOn(const char* name, HcclComm comm, Body&& body) {
  return AsHccl(Enter(name, [&](const Api& api) -> int32_t {
    const std::shared_ptr<Communicator> found = Find(api, comm);
    return found == nullptr ? +HCCL_E_PARA : body(api, found);
  }));
}

int32_t Null(const Api& api, const void* pointer, const char* argument) {
  return pointer == nullptr ? api.Fail(HCCL_E_PTR, "%s is null", argument) : 0;
}

int32_t CheckConfig(const Api& api, HcclConfig config) {
  return config == HCCL_DETERMINISTIC
             ? 0
             : api.Fail(HCCL_E_PARA, "config is %d, want HCCL_DETERMINISTIC (0)",
                        static_cast<int>(config));
}

// An environment variable of HCCL in seconds.
int32_t Seconds(const Api& api, const char* variable, int32_t otherwise, int32_t* seconds) {
  *seconds = otherwise;
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') {
    return 0;
  }
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value <= 0 || value > INT32_MAX) {
    return api.Fail(HCCL_E_PARA, "%s is \"%s\", want seconds above 0", variable, text);
  }
  *seconds = static_cast<int32_t>(value);
  return 0;
}

int32_t CheckElements(const Api& api, HcclDataType type, uint64_t count) {
  if (HcclTypeBytes(type) == 0) {
    return api.Fail(HCCL_E_PARA, "dataType is %d, which is no HcclDataType",
                    static_cast<int>(type));
  }
  return count > kMostElements
             ? api.Fail(HCCL_E_PARA, "count is %llu, more than memory has", static_cast<Ull>(count))
             : 0;
}

int32_t CheckReduce(const Api& api, HcclDataType type, HcclReduceOp op, uint64_t count) {
  ACLSIM_RETURN_IF_ERROR(CheckElements(api, type, count));
  if (op < HCCL_REDUCE_SUM || op > HCCL_REDUCE_MIN) {
    return api.Fail(HCCL_E_PARA, "op is %d, want sum, prod, max or min (0 to 3)",
                    static_cast<int>(op));
  }
  return HcclReduceInto(type, op, nullptr, nullptr, 0)
             ? 0
             : api.Fail(HCCL_E_NOT_SUPPORT,
                        "dataType is %d, want int8, int16, int32, int64, fp16, fp32 or bfp16: HCCL "
                        "reduces no others",
                        static_cast<int>(type));
}

int32_t CheckRank(const Api& api, const Communicator& comm, const char* argument, uint32_t rank,
                  bool other) {
  if (rank >= comm.ranks()) {
    return api.Fail(HCCL_E_PARA, "%s is %u, want a rank below %u", argument, rank, comm.ranks());
  }
  return other && rank == comm.rank()
             ? api.Fail(HCCL_E_PARA, "%s is %u, this rank itself", argument, rank)
             : 0;
}

// A buffer of a call: device memory that is there.
struct Buffer {
  const char* name;
  const void* memory;
  uint64_t bytes;
  bool write;
};

int32_t CheckBuffer(const Api& api, const Buffer& buffer) {
  std::string why;
  if (buffer.bytes == 0) {
    return 0;
  }
  ACLSIM_RETURN_IF_ERROR(Null(api, buffer.memory, buffer.name));
  return ToBacking(buffer.memory, buffer.bytes, &why) != nullptr
             ? 0
             : api.Refuse(HCCL_E_PARA, MistakeOf(buffer.memory), buffer.name, why,
                          "pass memory of aclrtMalloc that has not been freed");
}

// Hands the call to the stream, and after it what tells the other ranks when the stream has not run it.
int32_t Enqueue(const Api& api, const std::shared_ptr<Communicator>& comm, aclrtStream stream,
                const std::vector<Buffer>& buffers, std::function<TaskResult()> body) {
  std::vector<DeviceUse> uses;
  for (const Buffer& buffer : buffers) {
    ACLSIM_RETURN_IF_ERROR(CheckBuffer(api, buffer));
    if (buffer.bytes != 0) {
      uses.push_back({buffer.memory, buffer.bytes, buffer.write, false,
                      std::string("argument ") + buffer.name});
    }
  }
  int32_t error = 0;
  const std::shared_ptr<Stream> on = FindStream(api, stream, &error);
  if (on == nullptr) {
    return error;
  }
  const uint64_t turn = comm->NextTurn();
  const std::string what = api.name();
  auto ran = std::make_shared<bool>(false);
  error = EnqueueTask(
      stream,
      [=, worker = on.get()] {
        *ran = true;
        return comm->InTurn(turn, what, *worker, body);
      },
      uses, what);
  if (error != 0) {
    comm->Skip(turn, Format("%s: a stream of rank %u of %s takes no more work", what.c_str(),
                            comm->rank(), comm->name().c_str()));
    return error;
  }
  return on->Enqueue(
      [=, worker = on.get()] {
        if (!*ran) {
          const std::string why = worker->Failure().message;
          comm->Skip(turn, Format("%s: rank %u of %s did not run it, as its stream had failed: %s",
                                  what.c_str(), comm->rank(), comm->name().c_str(),
                                  why.empty() ? "it was destroyed" : why.c_str()));
        }
        return TaskResult{};
      },
      Stream::Run::kAlways);
}

const uint8_t* At(const void* memory, uint64_t bytes) {
  return static_cast<const uint8_t*>(memory) + bytes;
}

TaskResult CopyOnDevice(const void* to, const void* from, uint64_t bytes) {
  if (bytes == 0 || to == from) {
    return {};
  }
  const void* const source = aclsimHostView(from, bytes, 0);
  void* const target = aclsimHostView(to, bytes, 1);
  if (source == nullptr || target == nullptr) {
    return {ACL_ERROR_RT_PARAM_INVALID, "a buffer is device memory no more"};
  }
  std::memmove(target, source, bytes);
  return {};
}

// Every collective sends to and receives from each rank, also where that is nothing, so that the calls are compared.
struct Share {
  const void* memory = nullptr;
  uint64_t bytes = 0;
};
struct Shares {
  std::vector<Share> to;
  std::vector<Share> from;
  explicit Shares(const Communicator& comm) : to(comm.ranks()), from(comm.ranks()) {}
};

TaskResult Distribute(Communicator& comm, const HcclCall& call, const Shares& shares) {
  const Share& own = shares.to[comm.rank()];
  const TaskResult copied = CopyOnDevice(shares.from[comm.rank()].memory, own.memory, own.bytes);
  if (copied.status != 0) {
    return copied;
  }
  std::vector<HcclMessage> messages;
  for (uint32_t rank = 0; rank < comm.ranks(); ++rank) {
    if (rank != comm.rank()) {
      messages.push_back({rank, true, shares.to[rank].memory, shares.to[rank].bytes, call});
      messages.push_back({rank, false, shares.from[rank].memory, shares.from[rank].bytes, call});
    }
  }
  return comm.Exchange(messages);
}

int32_t Collective(const Api& api, const std::shared_ptr<Communicator>& comm, aclrtStream stream,
                   HcclCall call, const std::vector<Buffer>& buffers, const Shares& shares) {
  call.number = comm->NextCollective();
  return Enqueue(api, comm, stream, buffers, [=] { return Distribute(*comm, call, shares); });
}

// Elements of a rank's part of an array.
struct Slice {
  uint64_t begin = 0;
  uint64_t count = 0;
};

// Each rank gets its slice of what all send, reduced in the order of the ranks.
TaskResult ReduceSlices(Communicator& comm, const HcclCall& call, const void* send,
                        const std::vector<Slice>& slices, const void* result) {
  const uint64_t size = HcclTypeBytes(call.type);
  const Slice own = slices[comm.rank()];
  const uint64_t bytes = own.count * size;
  uint64_t all = 0;
  for (const Slice& slice : slices) {
    all = std::max(all, (slice.begin + slice.count) * size);
  }
  auto* const view = all == 0 ? nullptr : static_cast<uint8_t*>(aclsimHostView(send, all, 0));
  std::vector<uint8_t> received(bytes * comm.ranks());
  std::vector<Communicator::Part> parts;
  for (uint32_t rank = 0; rank < comm.ranks(); ++rank) {
    HcclCall message = call;
    if (rank == comm.rank()) {
      if (bytes != 0) {
        std::memcpy(received.data() + rank * bytes, view + own.begin * size, bytes);
      }
      continue;
    }
    message.bytes = slices[rank].count * size;
    parts.push_back({rank, true, view + slices[rank].begin * size, message.bytes, message});
    message.bytes = bytes;
    parts.push_back({rank, false, received.data() + rank * bytes, bytes, message});
  }
  TaskResult done = comm.Exchange(&parts);
  if (done.status != 0 || bytes == 0) {
    return done;
  }
  for (uint32_t rank = 1; rank < comm.ranks(); ++rank) {
    HcclReduceInto(call.type, call.reduce, received.data(), received.data() + rank * bytes,
                   own.count);
  }
  void* const target = aclsimHostView(result, bytes, 1);
  if (target == nullptr) {
    return {ACL_ERROR_RT_PARAM_INVALID, "recvBuf is device memory no more"};
  }
  std::memcpy(target, received.data(), bytes);
  return {};
}

std::vector<Slice> EvenSlices(uint32_t ranks, uint64_t count) {
  std::vector<Slice> slices(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const uint64_t begin = count / ranks * rank + std::min<uint64_t>(rank, count % ranks);
    slices[rank] = {begin, count / ranks + (rank < count % ranks ? 1 : 0)};
  }
  return slices;
}

int32_t AllReduce(const Api& api, const std::shared_ptr<Communicator>& comm, const void* send,
                  const void* recv, HcclCall call, aclrtStream stream) {
  const uint64_t size = HcclTypeBytes(call.type);
  const uint64_t bytes = call.count * size;
  call.number = comm->NextCollective();
  return Enqueue(
      api, comm, stream, {{"sendBuf", send, bytes, false}, {"recvBuf", recv, bytes, true}}, [=] {
        const std::vector<Slice> slices = EvenSlices(comm->ranks(), call.count);
        const Slice own = slices[comm->rank()];
        TaskResult done = ReduceSlices(*comm, call, send, slices, At(recv, own.begin * size));
        if (done.status != 0) {
          return done;
        }
        Shares shares(*comm);
        for (uint32_t rank = 0; rank < comm->ranks(); ++rank) {
          shares.to[rank] = {At(recv, own.begin * size), own.count * size};
          shares.from[rank] = {At(recv, slices[rank].begin * size), slices[rank].count * size};
        }
        return Distribute(*comm, call, shares);
      });
}

// A communicator's rank, once the shared memory is there.
int32_t Join(const Api& api, const std::shared_ptr<SharedMemory>& memory, uint32_t ranks,
             uint32_t rank, int32_t device, const HcclCommConfig* config,
             std::shared_ptr<Communicator>* joined) {
  std::string why;
  int32_t seconds = 0;
  ACLSIM_RETURN_IF_ERROR(Seconds(api, "HCCL_EXEC_TIMEOUT", kExecuteSeconds, &seconds));
  std::string name = memory->name();
  if (config != nullptr) {
    const size_t length = strnlen(config->hcclCommName, sizeof(config->hcclCommName));
    name = length == 0 ? name : std::string(config->hcclCommName, length);
    seconds = config->hcclExecTimeOut > 0 ? config->hcclExecTimeOut : seconds;
  }
  if (!memory->Join(ranks, rank, device, &why)) {
    return api.FailText(HCCL_E_PARA, why);
  }
  *joined =
      std::make_shared<Communicator>(memory, ranks, rank, name, std::chrono::seconds(seconds));
  return 0;
}

HcclComm Register(const std::shared_ptr<Communicator>& comm) {
  const std::lock_guard lock(communicators->mutex);
  const uint64_t id = ++communicators->last;
  communicators->all[id] = comm;
  return reinterpret_cast<HcclComm>(kHandle + id);
}

int32_t CheckRanks(const Api& api, const char* argument, uint32_t ranks) {
  return ranks == 0 || ranks > SharedMemory::kMostRanks
             ? api.Fail(HCCL_E_PARA, "%s is %u, want 1 to %u", argument, ranks,
                        SharedMemory::kMostRanks)
             : 0;
}

// All ranks are there when this is asked.
bool SomeShareDevice(const SharedMemory& memory, uint32_t ranks) {
  uint32_t other = 0;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    if (memory.SharesDevice(rank, &other)) {
      return true;
    }
  }
  return false;
}

int32_t InitRoot(const Api& api, uint32_t ranks, const HcclRootInfo* root, uint32_t rank,
                 const HcclCommConfig* config, HcclComm* comm) {
  using Clock = std::chrono::steady_clock;
  ACLSIM_RETURN_IF_ERROR(Null(api, root, "rootInfo"));
  ACLSIM_RETURN_IF_ERROR(Null(api, comm, "comm"));
  ACLSIM_RETURN_IF_ERROR(CheckRanks(api, "nRanks", ranks));
  if (rank >= ranks) {
    return api.Fail(HCCL_E_PARA, "rank is %u, want one below nRanks, %u", rank, ranks);
  }
  std::shared_ptr<Context> context;
  ACLSIM_RETURN_IF_ERROR(api.Current(&context));
  std::string why;
  int32_t limit = 0;
  ACLSIM_RETURN_IF_ERROR(Seconds(api, "HCCL_CONNECT_TIMEOUT", kConnectSeconds, &limit));
  const std::shared_ptr<SharedMemory> memory = SharedMemory::Open(*root, &why);
  if (memory == nullptr) {
    return api.FailText(HCCL_E_PARA, "rootInfo: " + why);
  }
  std::shared_ptr<Communicator> made;
  ACLSIM_RETURN_IF_ERROR(Join(api, memory, ranks, rank, context->device, config, &made));
  const auto end = Clock::now() + std::chrono::seconds(limit);
  uint32_t other = 0;
  for (;;) {
    const uint32_t known = memory->Rings(rank);
    if (memory->SharesDevice(rank, &other)) {
      memory->Fail(
          Format("ranks %u and %u are both on device %d, and a device has one rank. Next: %s",
                 std::min(rank, other), std::max(rank, other), context->device, kSetDevice));
    }
    // Others may have gone on since, and failed in a call: that is not an error of this one.
    if (memory->Joined() == ranks && !SomeShareDevice(*memory, ranks)) {
      break;
    }
    if (const std::string failure = memory->Failure(); !failure.empty()) {
      return api.FailText(HCCL_E_PARA, failure);
    }
    if (Clock::now() >= end) {
      const std::string text = Format(
          "%u of %u ranks are there after %d s. Next: let every rank call it; "
          "HCCL_CONNECT_TIMEOUT is the limit in seconds",
          memory->Joined(), ranks, limit);
      memory->Fail(text);
      return api.FailText(HCCL_E_TIMEOUT, text);
    }
    for (uint32_t i = 0; i < ranks; ++i) {
      if (why = i == rank ? "" : memory->Missing(i); !why.empty()) {
        memory->Fail(why);
      }
    }
    memory->AwaitRing(rank, known, std::chrono::milliseconds(50));
  }
  {
    const std::lock_guard lock(communicators->mutex);
    communicators->roots.erase(memory->name());
  }
  *comm = Register(made);
  return 0;
}

int32_t SendRecvNow(const Api& api, const std::shared_ptr<Communicator>& comm,
                    const HcclSendRecvItem* items, uint32_t count, aclrtStream stream) {
  std::vector<HcclMessage> messages;
  std::vector<Buffer> buffers;
  for (uint32_t i = 0; i < count; ++i) {
    const HcclSendRecvItem& item = items[i];
    if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) {
      return api.Fail(HCCL_E_PARA, "sendRecvType is %d, want HCCL_SEND (0) or HCCL_RECV (1)",
                      static_cast<int>(item.sendRecvType));
    }
    const bool send = item.sendRecvType == HCCL_SEND;
    ACLSIM_RETURN_IF_ERROR(CheckElements(api, item.dataType, item.count));
    ACLSIM_RETURN_IF_ERROR(
        CheckRank(api, *comm, send ? "destRank" : "srcRank", item.remoteRank, true));
    const uint64_t bytes = item.count * HcclTypeBytes(item.dataType);
    HcclCall call;
    call.function = kHcclSendRecv;
    call.type = item.dataType;
    call.count = item.count;
    messages.push_back({item.remoteRank, send, item.buf, bytes, call});
    buffers.push_back({send ? "sendBuf" : "recvBuf", item.buf, bytes, !send});
  }
  return Enqueue(api, comm, stream, buffers, [=] { return comm->Exchange(messages); });
}

int32_t SendRecv(const Api& api, HcclComm handle, const std::shared_ptr<Communicator>& comm,
                 const HcclSendRecvItem* items, uint32_t count, aclrtStream stream) {
  if (group.depth == 0) {
    return SendRecvNow(api, comm, items, count, stream);
  }
  const auto same = std::find_if(
      group.parts.begin(), group.parts.end(),
      [&](const Group::Part& part) { return part.comm == handle && part.stream == stream; });
  Group::Part& part =
      same != group.parts.end() ? *same : group.parts.emplace_back(Group::Part{handle, stream, {}});
  part.items.insert(part.items.end(), items, items + count);
  return 0;
}

HcclCall MakeCall(HcclFunction function, HcclDataType type, uint64_t count, uint32_t reduce = 0,
                  uint32_t root = 0) {
  HcclCall call;
  call.function = function;
  call.type = type;
  call.count = count;
  call.reduce = reduce;
  call.root = root;
  return call;
}

}  // namespace

}  // namespace aclsim

using namespace aclsim;

extern "C" {

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return Call(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(Null(api, rootInfo, "rootInfo"));
    std::string why;
    const std::shared_ptr<SharedMemory> memory = SharedMemory::Create(rootInfo, &why);
    if (memory == nullptr) {
      return api.FailText(HCCL_E_SYSCALL, why);
    }
    const std::lock_guard lock(communicators->mutex);
    communicators->roots[memory->name()] = memory;
    return 0;
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                HcclComm* comm) {
  return Call(__func__,
              [&](const Api& api) { return InitRoot(api, nRanks, rootInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
  return Call(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(Null(api, config, "config"));
    return InitRoot(api, nRanks, rootInfo, rank, config, comm);
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return Call(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(api.Ready());
    ACLSIM_RETURN_IF_ERROR(Null(api, devices, "devices"));
    ACLSIM_RETURN_IF_ERROR(Null(api, comms, "comms"));
    ACLSIM_RETURN_IF_ERROR(CheckRanks(api, "ndev", ndev));
    std::vector<std::shared_ptr<Communicator>> made(ndev);
    HcclRootInfo root;
    std::string why;
    const std::shared_ptr<SharedMemory> first = SharedMemory::Create(&root, &why);
    for (uint32_t rank = 0; first != nullptr && rank < ndev; ++rank) {
      ACLSIM_RETURN_IF_ERROR(CheckDevice(api, devices[rank]));
      if (std::find(devices, devices + rank, devices[rank]) != devices + rank) {
        return api.Fail(HCCL_E_PARA, "device %d is there twice", devices[rank]);
      }
      const std::shared_ptr<SharedMemory> memory = SharedMemory::Open(root, &why);
      if (memory == nullptr) {
        return api.FailText(HCCL_E_SYSCALL, why);
      }
      ACLSIM_RETURN_IF_ERROR(Join(api, memory, ndev, rank, devices[rank], nullptr, &made[rank]));
    }
    if (first == nullptr) {
      return api.FailText(HCCL_E_SYSCALL, why);
    }
    std::transform(made.begin(), made.end(), comms, Register);
    return 0;
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return CallOn(__func__, comm, [&](const Api&, const std::shared_ptr<Communicator>&) -> int32_t {
    const std::lock_guard lock(communicators->mutex);
    communicators->all.erase(reinterpret_cast<uintptr_t>(comm) - kHandle);
    return 0;
  });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& found) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(Null(api, rankSize, "rankSize"));
                  *rankSize = found->ranks();
                  return 0;
                });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& found) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(Null(api, rank, "rank"));
                  *rank = found->rank();
                  return 0;
                });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& found) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(Null(api, commName, "commName"));
                  commName[found->name().copy(commName, COMM_NAME_MAX_LENGTH - 1)] = '\0';
                  return 0;
                });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& found) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(Null(api, asyncError, "asyncError"));
                  *asyncError = found->Failure().empty() ? HCCL_SUCCESS : HCCL_E_REMOTE;
                  return 0;
                });
}

const char* HcclGetErrorString(HcclResult code) {
  static constexpr const char* kTexts[] = {"no error",
                                           "parameter error",
                                           "empty pointer",
                                           "memory error",
                                           "internal error",
                                           "feature not supported",
                                           "resource not found",
                                           "resource unavailable",
                                           "system call error",
                                           "timeout",
                                           "file cannot be opened",
                                           "tcp connect failed",
                                           "roce connect failed",
                                           "tcp transfer failed",
                                           "roce transfer failed",
                                           "runtime call failed",
                                           "driver call failed",
                                           "profiling call failed",
                                           "cce call failed",
                                           "network call failed",
                                           "try again",
                                           "remote error",
                                           "communicator suspending",
                                           "retry failed",
                                           "out of memory"};
  const auto index = static_cast<uint32_t>(code);
  return index < std::size(kTexts) ? kTexts[index] : "unknown error";
}

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return Call(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(CheckConfig(api, config));
    deterministic = configValue.value;
    return 0;
  });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  return Call(__func__, [&](const Api& api) -> int32_t {
    ACLSIM_RETURN_IF_ERROR(CheckConfig(api, config));
    ACLSIM_RETURN_IF_ERROR(Null(api, configValue, "configValue"));
    configValue->value = deterministic;
    return 0;
  });
}

// Names, limits of time and what has no meaning here can be configured.
uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_ALGO; }

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(CheckReduce(api, dataType, op, count));
                  return AllReduce(api, on, sendBuf, recvBuf,
                                   MakeCall(kHcclAllReduce, dataType, count, op), stream);
                });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(CheckReduce(api, dataType, op, count));
                  ACLSIM_RETURN_IF_ERROR(CheckRank(api, *on, "root", root, false));
                  HcclCall call = MakeCall(kHcclReduce, dataType, count, op, root);
                  call.number = on->NextCollective();
                  const uint64_t bytes = count * HcclTypeBytes(dataType);
                  std::vector<Slice> slices(on->ranks());
                  slices[root].count = count;
                  return Enqueue(api, on, stream,
                                 {{"sendBuf", sendBuf, bytes, false},
                                  {"recvBuf", recvBuf, root == on->rank() ? bytes : 0, true}},
                                 [=] { return ReduceSlices(*on, call, sendBuf, slices, recvBuf); });
                });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
  return CallOn(
      __func__, comm, [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
        ACLSIM_RETURN_IF_ERROR(CheckReduce(api, dataType, op, recvCount));
        HcclCall call = MakeCall(kHcclReduceScatter, dataType, recvCount, op);
        call.number = on->NextCollective();
        const uint64_t bytes = recvCount * HcclTypeBytes(dataType);
        return Enqueue(
            api, on, stream,
            {{"sendBuf", sendBuf, bytes * on->ranks(), false}, {"recvBuf", recvBuf, bytes, true}},
            [=] {
              return ReduceSlices(*on, call, sendBuf,
                                  EvenSlices(on->ranks(), recvCount * on->ranks()), recvBuf);
            });
      });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream) {
  return CallOn(
      __func__, comm, [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
        ACLSIM_RETURN_IF_ERROR(CheckElements(api, dataType, count));
        ACLSIM_RETURN_IF_ERROR(CheckRank(api, *on, "root", root, false));
        const Share all{buf, count * HcclTypeBytes(dataType)};
        Shares shares(*on);
        if (on->rank() == root) {
          std::fill(shares.to.begin(), shares.to.end(), all);
        }
        shares.from[root] = all;
        return Collective(api, on, stream, MakeCall(kHcclBroadcast, dataType, count, 0, root),
                          {{"buf", buf, all.bytes, on->rank() != root}}, shares);
      });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(CheckElements(api, dataType, recvCount));
                  ACLSIM_RETURN_IF_ERROR(CheckRank(api, *on, "root", root, false));
                  const uint64_t bytes = recvCount * HcclTypeBytes(dataType);
                  Shares shares(*on);
                  for (uint32_t rank = 0; on->rank() == root && rank < on->ranks(); ++rank) {
                    shares.to[rank] = {At(sendBuf, rank * bytes), bytes};
                  }
                  shares.from[root] = {recvBuf, bytes};
                  return Collective(
                      api, on, stream, MakeCall(kHcclScatter, dataType, recvCount, 0, root),
                      {{"sendBuf", sendBuf, on->rank() == root ? bytes * on->ranks() : 0, false},
                       {"recvBuf", recvBuf, bytes, true}},
                      shares);
                });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  return CallOn(
      __func__, comm, [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
        ACLSIM_RETURN_IF_ERROR(CheckElements(api, dataType, sendCount));
        const uint64_t bytes = sendCount * HcclTypeBytes(dataType);
        Shares shares(*on);
        for (uint32_t rank = 0; rank < on->ranks(); ++rank) {
          shares.to[rank] = {sendBuf, bytes};
          shares.from[rank] = {At(recvBuf, rank * bytes), bytes};
        }
        return Collective(
            api, on, stream, MakeCall(kHcclAllGather, dataType, sendCount),
            {{"sendBuf", sendBuf, bytes, false}, {"recvBuf", recvBuf, bytes * on->ranks(), true}},
            shares);
      });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream) {
  return CallOn(
      __func__, comm, [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
        ACLSIM_RETURN_IF_ERROR(CheckElements(api, dataType, sendCount));
        ACLSIM_RETURN_IF_ERROR(Null(api, recvCounts, "recvCounts"));
        ACLSIM_RETURN_IF_ERROR(Null(api, recvDispls, "recvDispls"));
        const uint64_t size = HcclTypeBytes(dataType);
        const auto* const counts = static_cast<const uint64_t*>(recvCounts);
        const auto* const displacements = static_cast<const uint64_t*>(recvDispls);
        Shares shares(*on);
        std::vector<Buffer> buffers = {{"sendBuf", sendBuf, sendCount * size, false}};
        for (uint32_t rank = 0; rank < on->ranks(); ++rank) {
          ACLSIM_RETURN_IF_ERROR(
              CheckElements(api, dataType, std::max(counts[rank], displacements[rank])));
          shares.to[rank] = {sendBuf, sendCount * size};
          shares.from[rank] = {At(recvBuf, displacements[rank] * size), counts[rank] * size};
          buffers.push_back({"recvBuf", shares.from[rank].memory, counts[rank] * size, true});
        }
        if (counts[on->rank()] != sendCount) {
          return api.Fail(HCCL_E_PARA, "sendCount is %llu and recvCounts[%u] %llu",
                          static_cast<Ull>(sendCount), on->rank(),
                          static_cast<Ull>(counts[on->rank()]));
        }
        return Collective(api, on, stream, MakeCall(kHcclAllGatherV, dataType, 0), buffers, shares);
      });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(CheckElements(api, sendType, sendCount));
                  if (sendType != recvType || sendCount != recvCount) {
                    return api.Fail(
                        HCCL_E_PARA,
                        "sendCount is %llu of type %d and recvCount %llu of type %d, want the same",
                        static_cast<Ull>(sendCount), static_cast<int>(sendType),
                        static_cast<Ull>(recvCount), static_cast<int>(recvType));
                  }
                  const uint64_t bytes = sendCount * HcclTypeBytes(sendType);
                  Shares shares(*on);
                  for (uint32_t rank = 0; rank < on->ranks(); ++rank) {
                    shares.to[rank] = {At(sendBuf, rank * bytes), bytes};
                    shares.from[rank] = {At(recvBuf, rank * bytes), bytes};
                  }
                  return Collective(api, on, stream, MakeCall(kHcclAlltoAll, sendType, sendCount),
                                    {{"sendBuf", sendBuf, bytes * on->ranks(), false},
                                     {"recvBuf", recvBuf, bytes * on->ranks(), true}},
                                    shares);
                });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream) {
  return CallOn(
      __func__, comm, [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
        ACLSIM_RETURN_IF_ERROR(CheckElements(api, sendType, 0));
        if (sendType != recvType) {
          return api.Fail(HCCL_E_PARA, "sendType is %d and recvType %d, want the same",
                          static_cast<int>(sendType), static_cast<int>(recvType));
        }
        const uint64_t size = HcclTypeBytes(sendType);
        Shares shares(*on);
        std::vector<Buffer> buffers;
        const auto fill = [&](std::vector<Share>* into, const char* name, const void* buffer,
                              const void* counts, const void* displacements,
                              bool write) -> int32_t {
          for (uint32_t rank = 0; rank < on->ranks(); ++rank) {
            const uint64_t count = static_cast<const uint64_t*>(counts)[rank];
            const uint64_t at = static_cast<const uint64_t*>(displacements)[rank];
            ACLSIM_RETURN_IF_ERROR(CheckElements(api, sendType, std::max(count, at)));
            (*into)[rank] = {At(buffer, at * size), count * size};
            buffers.push_back({name, At(buffer, at * size), count * size, write});
          }
          return 0;
        };
        for (const auto& [pointer, name] : {std::pair(sendCounts, "sendCounts"),
                                            {sdispls, "sdispls"},
                                            {recvCounts, "recvCounts"},
                                            {rdispls, "rdispls"}}) {
          ACLSIM_RETURN_IF_ERROR(Null(api, pointer, name));
        }
        ACLSIM_RETURN_IF_ERROR(fill(&shares.to, "sendBuf", sendBuf, sendCounts, sdispls, false));
        ACLSIM_RETURN_IF_ERROR(fill(&shares.from, "recvBuf", recvBuf, recvCounts, rdispls, true));
        if (const uint32_t own = on->rank(); shares.to[own].bytes != shares.from[own].bytes) {
          return api.Fail(HCCL_E_PARA,
                          "sendCounts[%u] and recvCounts[%u] differ, both of this rank", own, own);
        }
        return Collective(api, on, stream, MakeCall(kHcclAlltoAllV, sendType, 0), buffers, shares);
      });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  return Collective(api, on, stream, MakeCall(kHcclBarrier, HCCL_DATA_TYPE_INT8, 0),
                                    {}, Shares(*on));
                });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  const HcclSendRecvItem item{HCCL_SEND, sendBuf, count, dataType, destRank};
                  return SendRecv(api, comm, on, &item, 1, stream);
                });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  const HcclSendRecvItem item{HCCL_RECV, recvBuf, count, dataType, srcRank};
                  return SendRecv(api, comm, on, &item, 1, stream);
                });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  return CallOn(__func__, comm,
                [&](const Api& api, const std::shared_ptr<Communicator>& on) -> int32_t {
                  ACLSIM_RETURN_IF_ERROR(Null(api, sendRecvInfo, "sendRecvInfo"));
                  return SendRecv(api, comm, on, sendRecvInfo, itemNum, stream);
                });
}

HcclResult HcclGroupStart() {
  return Call(__func__, [](const Api&) {
    ++group.depth;
    return 0;
  });
}

HcclResult HcclGroupEnd() {
  return Call(__func__, [](const Api& api) -> int32_t {
    if (group.depth == 0) {
      return api.Fail(HCCL_E_PARA, "there was no HcclGroupStart in this thread");
    }
    if (--group.depth != 0) {
      return 0;
    }
    for (const Group::Part& part : std::exchange(group.parts, {})) {
      const std::shared_ptr<Communicator> comm = Find(api, part.comm);
      if (comm == nullptr) {
        return HCCL_E_PARA;
      }
      ACLSIM_RETURN_IF_ERROR(SendRecvNow(api, comm, part.items.data(),
                                         static_cast<uint32_t>(part.items.size()), part.stream));
    }
    return 0;
  });
}

}  // extern "C"
