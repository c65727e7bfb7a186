// SPDX-License-Identifier: Apache-2.0
// The live handles of the process.
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/options.h"
#include "host/crash.h"
#include "host/fork.h"
#include "host/lock.h"
#include "opbase/executor.h"
#include "opbase/storage.h"
#include "opdev/op_executor.h"
#include "opdev/shape_utils.h"
#include "runtime/runtime.h"

namespace op::internal {
namespace {

constexpr size_t kQuarantine = 4096;

// Who asks for a handle; null: the library itself.
struct Maker {
  const char* function;
  const void* caller;
};
thread_local Maker maker = {nullptr, nullptr};

// The outermost HoldHandles of this thread.
struct Hold {
  uint32_t depth = 0;
  uint64_t number = 0;
};
thread_local Hold hold;

struct LiveHandle {
  HandleKind kind;
  bool executor;
  void (*destruct)(void*);
  Maker maker;
  uint64_t number;
};

struct DeadHandle {
  HandleKind kind;
  bool executor;
  bool ran;
};

const char* NameOf(HandleKind kind, bool executor) {
  return executor ? "executor" : HandleKindName(kind);
}

class HandleTable {
 public:
  template <typename T>
  T* Add(HandleKind kind, bool executor, T* handle) {
    const Maker by =
        executor ? Maker{"", aclsim::CheckedMode() ? aclsim::ProgramCaller() : nullptr} : maker;
    const std::lock_guard lock(mutex_);
    live_[handle] = {kind, executor, [](void* p) { static_cast<T*>(p)->~T(); }, by, ++count_};
    return handle;
  }

  bool Alive(HandleKind kind, bool executor, const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    return found != live_.end() && found->second.kind == kind && found->second.executor == executor;
  }

  bool Destroy(HandleKind kind, bool executor, const void* handle, bool ran) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = live_.find(handle);
      if (found == live_.end() || found->second.kind != kind ||
          found->second.executor != executor) {
        return false;
      }
      destroyed_.push_back({const_cast<void*>(handle), found->second.destruct, ++count_});
      dead_[handle] = {kind, executor, ran};
      live_.erase(found);
    }
    DestructUnheld();
    return true;
  }

  uint64_t BeginHold() {
    const std::lock_guard lock(mutex_);
    return *holds_.insert(++count_).first;
  }

  void EndHold(uint64_t number) {
    {
      const std::lock_guard lock(mutex_);
      holds_.erase(number);
      if (destroyed_.empty()) return;
    }
    DestructUnheld();
  }

  Stale Describe(HandleKind kind, bool executor, const void* handle) {
    const std::lock_guard lock(mutex_);
    const std::string text = std::string("is not a live ") + NameOf(kind, executor) + ": ";
    if (const auto dead = dead_.find(handle); dead != dead_.end()) {
      const std::string was =
          text + "it was an " + NameOf(dead->second.kind, dead->second.executor);
      if (dead->second.ran) {
        return {was + " that has run and was not repeatable", "host-executor-reused"};
      }
      const bool tensor = dead->second.kind == HandleKind::kTensor;
      return {was + " that was destroyed",
              tensor ? "host-destroyed-tensor" : "host-use-after-free"};
    }
    if (const auto live = live_.find(handle); live != live_.end()) {
      return {text + "it is an " + NameOf(live->second.kind, live->second.executor),
              "host-wrong-handle"};
    }
    return {text + (aclsim::ForkCount() == 0
                        ? "no create function returned it"
                        : "no create function of this process returned it, and a forked child has "
                          "none of its parent's handles"),
            "host-wrong-handle"};
  }

  void ForgetDead() {
    const std::lock_guard lock(mutex_);
    for (void* handle : quarantine_) ::operator delete(handle);
    quarantine_.clear();
    dead_.clear();
  }

  void NoteArray(const char* function, const int64_t* array, size_t count) {
    constexpr size_t kMostArrays = 4096;
    const std::lock_guard lock(mutex_);
    if (arrays_.size() < kMostArrays || arrays_.contains(array)) {
      arrays_[array] = {function, aclsim::ProgramCaller(), {array, array + count}};
    }
  }

  // Freed memory does not keep its first bytes: those that still have theirs were not given back.
  std::vector<aclsim::LiveObjects> ListArrays() {
    std::map<std::string, aclsim::LiveObjects> lists;
    for (const auto& [array, made] : arrays_) {
      std::vector<int64_t> now(made.values.size());
      iovec local{now.data(), now.size() * sizeof(int64_t)};
      iovec remote{const_cast<int64_t*>(array), local.iov_len};  // it may be no memory by now
      const ssize_t read = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
      if (read != static_cast<ssize_t>(local.iov_len) || now != made.values || now.empty() ||
          aclsim::OfFramework(made.caller)) {
        continue;
      }
      aclsim::LiveObjects& list = lists[made.function];
      list.kind = std::string("array(s) of ") + made.function;
      if (++list.count <= aclsim::kLeakLines) {
        list.first.push_back(
            {"an array, which is the caller's to delete[]", made.function, made.caller});
      }
    }
    std::vector<aclsim::LiveObjects> all;
    for (auto& [name, list] : lists) all.push_back(std::move(list));
    return all;
  }

  std::vector<aclsim::LiveObjects> List() {
    const std::lock_guard lock(mutex_);
    std::map<uint64_t, std::pair<const void*, const LiveHandle*>> byAge;
    for (const auto& [handle, live] : live_) {
      if (live.maker.function != nullptr && !aclsim::OfFramework(live.maker.caller)) {
        byAge[live.number] = {handle, &live};
      }
    }
    std::map<std::string, aclsim::LiveObjects> lists;
    for (const auto& [number, entry] : byAge) {
      const auto& [handle, live] = entry;
      const std::string name = NameOf(live->kind, live->executor);
      aclsim::LiveObjects& list = lists[name];
      list.kind = name + "(s)";
      if (++list.count > aclsim::kLeakLines) continue;
      std::string what = name;
      std::string function = live->maker.function;
      if (live->kind == HandleKind::kTensor) {
        what += std::string(" ") + static_cast<const aclTensor*>(handle)->ToString().GetString();
      } else if (live->executor) {
        function = static_cast<const aclOpExecutor*>(handle)->State().api;
        what += " of " + function;
      }
      list.first.push_back({what, function, live->maker.caller});
    }
    std::vector<aclsim::LiveObjects> all = ListArrays();
    for (auto& [name, list] : lists) all.push_back(std::move(list));
    return all;
  }

 private:
  struct Destroyed {
    void* handle;
    void (*destruct)(void*);
    uint64_t number;
  };

  // Runs the destructors of handles that were destroyed before any call that is under way began.
  void DestructUnheld() {
    for (;;) {
      Destroyed next{};
      {
        const std::lock_guard lock(mutex_);
        if (destroyed_.empty() ||
            (!holds_.empty() && *holds_.begin() < destroyed_.front().number)) {
          return;
        }
        next = destroyed_.front();
        destroyed_.pop_front();
      }
      // Outside the lock: an executor's destructor destroys the handles that it owns.
      next.destruct(next.handle);
      void* oldest = nullptr;
      {
        const std::lock_guard lock(mutex_);
        quarantine_.push_back(next.handle);
        if (quarantine_.size() > kQuarantine) {
          oldest = quarantine_.front();
          quarantine_.pop_front();
          dead_.erase(oldest);
        }
      }
      ::operator delete(oldest);
    }
  }

  struct Array {
    const char* function = "";
    const void* caller = nullptr;
    std::vector<int64_t> values;
  };
  aclsim::Mutex<6, "handles"> mutex_;
  std::unordered_map<const int64_t*, Array> arrays_;
  std::unordered_map<const void*, LiveHandle> live_;
  std::unordered_map<const void*, DeadHandle> dead_;  // destroyed or in quarantine
  std::deque<Destroyed> destroyed_;                   // whose destructors have not run
  std::deque<void*> quarantine_;                      // whose destructors have run
  std::set<uint64_t> holds_;
  uint64_t count_ = 0;
};

// Handles may be destroyed by static destructors of the caller.
aclsim::PerProcess<HandleTable> theTable;
HandleTable& Table() { return *theTable; }

// Ends HoldHandles of this thread, until `left` are left.
void LeaveHolds(uint32_t left) {
  while (hold.depth > left) {
    if (--hold.depth == 0) Table().EndHold(hold.number);
  }
}

// Tells the runtime whom to ask, while this library is loaded.
struct Keeping {
  aclsim::ObjectKeeper keeper = {[] { return Table().List(); }, [] { Table().ForgetDead(); }};
  aclsim::ThreadScopes scopes = {[] { return hold.depth; }, LeaveHolds};
  Keeping() {
    aclsim::SetObjectKeeper(&keeper);
    aclsim::SetThreadScopes(&scopes);
  }
  ~Keeping() {
    aclsim::SetThreadScopes(nullptr);
    aclsim::SetObjectKeeper(nullptr);
  }
};
const Keeping keeping;

}  // namespace

AlignedBytes::AlignedBytes(uint64_t bytes) : size_(bytes) {
  constexpr uint64_t kAlignment = 64;
  const uint64_t rounded =
      (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset(static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded)));
  if (data_ == nullptr) throw std::bad_alloc();
  std::fill_n(data_.get(), rounded, uint8_t{0});
}

aclTensor* HandleMaker::NewTensor(const Shape& viewShape, const Strides* strides, int64_t offset,
                                  DataType dataType, Format format, const Shape& storageShape,
                                  std::shared_ptr<Storage> storage) {
  auto* tensor = new aclTensor;
  tensor->storage_ = std::move(storage);
  InitTensor(tensor, viewShape, strides, offset, dataType, format, storageShape);
  return Table().Add(HandleKind::kTensor, false, tensor);
}

void HandleMaker::InitTensor(aclTensor* tensor, const Shape& viewShape, const Strides* strides,
                             int64_t offset, DataType dataType, Format format,
                             const Shape& storageShape) {
  tensor->SetViewShape(viewShape);
  if (strides != nullptr) tensor->view_strides_ = *strides;
  tensor->view_offset_ = offset;
  tensor->view_format_ = format;
  tensor->tensor_.SetDataType(dataType);
  tensor->tensor_.SetOriginFormat(format);
  tensor->tensor_.SetStorageFormat(format);
  tensor->SetStorageShape(storageShape);
  tensor->SetOriginalShape(viewShape);
}

void HandleMaker::DescribeCaller(aclTensor* tensor, void* addr) {
  tensor->storage_->addr = addr;
  tensor->storage_->elements = tensor->GetStorageShape().GetShapeSize();
}

aclTensorList* HandleMaker::NewTensorList(const aclTensor* const* tensors, uint64_t size) {
  auto* list = new aclTensorList;
  for (uint64_t i = 0; i < size; ++i) list->tensors_.push_back(const_cast<aclTensor*>(tensors[i]));
  return Table().Add(HandleKind::kTensorList, false, list);
}

aclScalarList* HandleMaker::NewScalarList(const aclScalar* const* scalars, uint64_t size) {
  auto* list = new aclScalarList;
  for (uint64_t i = 0; i < size; ++i) list->scalars_.push_back(const_cast<aclScalar*>(scalars[i]));
  return Table().Add(HandleKind::kScalarList, false, list);
}

aclScalar* HandleMaker::NewScalar(const void* data, DataType dataType) {
  return Table().Add(HandleKind::kScalar, false, new aclScalar(data, dataType));
}

template <typename Array, typename T>
Array* HandleMaker::NewArray(const T* values, uint64_t size, HandleKind kind) {
  return Table().Add(kind, false, new Array(values, size));
}
template aclIntArray* HandleMaker::NewArray<aclIntArray, int64_t>(const int64_t*, uint64_t,
                                                                  HandleKind);
template aclFloatArray* HandleMaker::NewArray<aclFloatArray, float>(const float*, uint64_t,
                                                                    HandleKind);
template aclBoolArray* HandleMaker::NewArray<aclBoolArray, bool>(const bool*, uint64_t, HandleKind);

aclOpExecutor* HandleMaker::NewExecutor() {
  return Table().Add(HandleKind::kOther, true, new aclOpExecutor);
}

bool IsAlive(HandleKind kind, const void* handle) { return Table().Alive(kind, false, handle); }

bool DestroyHandle(HandleKind kind, const void* handle) {
  return Table().Destroy(kind, false, handle, false);
}

bool IsAliveExecutor(const aclOpExecutor* executor) {
  return Table().Alive(HandleKind::kOther, true, executor);
}

bool DestroyExecutor(aclOpExecutor* executor, bool ran) {
  return Table().Destroy(HandleKind::kOther, true, executor, ran);
}

Stale DescribeStale(HandleKind kind, const void* handle) {
  return Table().Describe(kind, kind == HandleKind::kOther, handle);
}

HoldHandles::HoldHandles() {
  if (hold.depth++ == 0) hold.number = Table().BeginHold();
}
HoldHandles::~HoldHandles() { LeaveHolds(hold.depth - 1); }

MadeByProgram::MadeByProgram(const char* function, const void* caller) {
  maker = {function, caller};
}
MadeByProgram::~MadeByProgram() { maker = {nullptr, nullptr}; }

void NoteArray(const char* function, const int64_t* array, size_t count) {
  if (aclsim::CheckedMode()) {
    Table().NoteArray(function, array, count);
  }
}

const char* HandleKindName(HandleKind kind) {
  switch (kind) {
    case HandleKind::kTensor:
      return "aclTensor";
    case HandleKind::kTensorList:
      return "aclTensorList";
    case HandleKind::kScalar:
      return "aclScalar";
    case HandleKind::kScalarList:
      return "aclScalarList";
    case HandleKind::kIntArray:
      return "aclIntArray";
    case HandleKind::kFloatArray:
      return "aclFloatArray";
    case HandleKind::kBoolArray:
      return "aclBoolArray";
    case HandleKind::kOther:
      break;
  }
  return "handle";
}

}  // namespace op::internal
