// SPDX-License-Identifier: Apache-2.0
// First stage of an executor: what it allocates, and the plan of its temporaries.
#include "opbase/executor.h"

#include <algorithm>
#include <exception>

#include "opbase/context.h"
#include "opbase/view.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

namespace op::internal {
namespace {

constexpr uint64_t kAlignment = 512;

uint64_t RoundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool Overlap(const TensorUse& a, const TensorUse& b) {
  if (a.storage == nullptr || b.storage == nullptr) return false;
  if (a.storage == b.storage) return a.begin < b.end && b.begin < a.end;
  if (a.storage->kind != Storage::Kind::kCaller || b.storage->kind != Storage::Kind::kCaller) {
    return false;
  }
  // Two tensors may name one piece of device memory. Addresses that come later are not known yet.
  if (a.storage->addr == nullptr || b.storage->addr == nullptr) return false;
  const auto startA = reinterpret_cast<intptr_t>(a.storage->addr);
  const auto startB = reinterpret_cast<intptr_t>(b.storage->addr);
  return startA + a.begin < startB + b.end && startB + b.begin < startA + a.end;
}

bool SameBytes(const TensorUse& a, const TensorUse& b) {
  if (a.Bytes() != b.Bytes()) return false;
  if (a.storage == b.storage) return a.begin == b.begin;
  return static_cast<char*>(a.storage->addr) + a.begin ==
         static_cast<char*>(b.storage->addr) + b.begin;
}

// A ViewCopy of a whole temporary into a plain contiguous output is not needed: the producer can
// write there at once. That holds when exactly one task writes the temporary, completely, and
// nobody reads or writes the output's memory between the two. The producer itself may read exactly
// the memory it then writes, as an operator called in place does.
class WriteThrough {
 public:
  WriteThrough(const std::vector<std::shared_ptr<Task>>& tasks, size_t copy)
      : tasks_(tasks), copy_(copy), from_(tasks[copy]->uses[0]), to_(tasks[copy]->uses[1]) {}

  bool IsPossible() {
    if (!IsPlain()) return false;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!NoteTemporary(i)) return false;
      if (producer_ != nullptr && i != copy_ && !LeavesOutput(i)) return false;
    }
    return producer_ != nullptr;
  }

 private:
  bool IsPlain() const {
    return tasks_[copy_]->isViewCopy && from_.storage->kind == Storage::Kind::kTemporary &&
           from_.storage->boundTo == nullptr && to_.storage->kind == Storage::Kind::kCaller &&
           from_.rowMajor && to_.rowMajor && from_.begin == 0 && from_.Bytes() == to_.Bytes();
  }

  // False where task i does not do with the temporary what the copy needs.
  bool NoteTemporary(size_t i) {
    const Task& task = *tasks_[i];
    for (size_t u = 0; u < task.uses.size(); ++u) {
      const TensorUse& use = task.uses[u];
      if (use.storage != from_.storage) continue;
      // The output's bytes are all there is: nobody may look beyond them.
      if (use.begin < from_.begin || use.end > from_.end) return false;
      if (u < task.inputCount) continue;
      if (producer_ != nullptr || i > copy_ || !use.rowMajor || use.Bytes() != from_.Bytes()) {
        return false;
      }
      producer_ = &task;
    }
    return true;
  }

  bool LeavesOutput(size_t i) const {
    const Task& task = *tasks_[i];
    const bool isProducer = producer_ == &task;
    for (size_t u = 0; u < task.uses.size(); ++u) {
      const TensorUse& use = task.uses[u];
      const bool writes = u >= task.inputCount;
      if (use.storage == from_.storage || !Overlap(use, to_)) continue;
      if (isProducer && !writes && task.IsKernel() && use.rowMajor && SameBytes(use, to_)) continue;
      if (i > copy_ && !writes) continue;
      return false;
    }
    return true;
  }

  const std::vector<std::shared_ptr<Task>>& tasks_;
  const size_t copy_;
  const TensorUse& from_;
  const TensorUse& to_;
  const Task* producer_ = nullptr;
};

}  // namespace

ExecutorState::~ExecutorState() {
  for (const auto& [kind, handle] : owned) DestroyHandle(kind, handle);
}

void ExecutorState::AddTask(std::shared_ptr<Task> task) {
  tasks.push_back(std::move(task));
  plan_ = nullptr;
}

std::string ExecutorState::NameOf(const aclTensor* tensor) const {
  const Storage* storage = HandleMaker::StorageOf(tensor).get();
  const auto found = names.find(storage);
  if (found != names.end()) return found->second;
  switch (storage->kind) {
    case Storage::Kind::kCaller:
      return "tensor";
    case Storage::Kind::kTemporary:
      return "temporary";
    case Storage::Kind::kHost:
      return "host tensor";
  }
  return "tensor";
}

const std::shared_ptr<const Plan>& ExecutorState::GetPlan() {
  if (plan_ != nullptr) return plan_;
  auto plan = std::make_shared<Plan>();
  for (const std::shared_ptr<Task>& task : tasks) {
    for (const TensorUse& use : task->uses) {
      // A caller's tensor may belong to executors of other threads too, so only our own are changed.
      if (use.storage != nullptr && use.storage->kind == Storage::Kind::kTemporary) {
        use.storage->boundTo = nullptr;
      }
    }
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i]->isViewCopy && WriteThrough(tasks, i).IsPossible()) {
      const TensorUse& to = tasks[i]->uses[1];
      tasks[i]->uses[0].storage->boundTo = to.storage;
      tasks[i]->uses[0].storage->offset = static_cast<uint64_t>(to.begin);
    } else {
      plan->tasks.push_back(tasks[i]);
    }
  }
  std::map<Storage*, uint64_t> sizes;
  std::vector<Storage*> order;
  for (const std::shared_ptr<Task>& task : plan->tasks) {
    for (const TensorUse& use : task->uses) {
      if (use.storage == nullptr || use.storage->kind != Storage::Kind::kTemporary ||
          use.storage->boundTo != nullptr) {
        continue;
      }
      const auto [found, added] = sizes.try_emplace(use.storage.get(), 0);
      if (added) order.push_back(use.storage.get());
      found->second = std::max(found->second, static_cast<uint64_t>(use.end));
    }
  }
  uint64_t next = 0;
  for (Storage* storage : order) {
    storage->offset = next;
    next += RoundUp(sizes[storage]);
  }
  for (const std::shared_ptr<Task>& task : plan->tasks) {
    task->workspaceOffset = next;
    next += RoundUp(task->workspaceBytes);
  }
  plan->workspaceBytes = next;
  plan_ = std::move(plan);
  return plan_;
}

}  // namespace op::internal

using op::internal::HandleKind;
using op::internal::HandleMaker;
using op::internal::Storage;

aclOpExecutor::aclOpExecutor() : state_(std::make_unique<op::internal::ExecutorState>()) {
  const op::internal::CallContext& call = op::internal::CurrentCall();
  state_->api = call.api;
  for (const auto& [tensor, name] : call.tensors) {
    if (op::internal::IsAlive(HandleKind::kTensor, tensor)) {
      state_->names[HandleMaker::StorageOf(tensor).get()] = name;
    }
  }
}

aclOpExecutor::~aclOpExecutor() = default;

namespace {

// Runs an allocation and lets the executor own the result.
template <typename F>
auto Own(op::internal::ExecutorState& state, HandleKind kind, const char* what, F maker)
    -> decltype(maker()) {
  try {
    auto* handle = maker();
    state.owned.emplace_back(kind, handle);
    return handle;
  } catch (const std::exception& error) {
    OP_LOGE(ACLNN_ERR_INNER, "%s failed: %s", what, error.what());
    return nullptr;
  }
}

std::shared_ptr<Storage> Temporary() {
  auto storage = std::make_shared<Storage>();
  storage->kind = Storage::Kind::kTemporary;
  return storage;
}

}  // namespace

aclTensor* aclOpExecutor::AllocTensor(const op::Shape& shape, op::DataType dataType,
                                      op::Format format) {
  return AllocTensor(shape, shape, dataType, format, format);
}

aclTensor* aclOpExecutor::AllocTensor(const op::Shape& storageShape, const op::Shape& originShape,
                                      op::DataType dataType, op::Format storageFormat,
                                      op::Format originFormat) {
  return Own(*state_, HandleKind::kTensor, "AllocTensor", [&] {
    aclTensor* tensor = HandleMaker::NewTensor(originShape, nullptr, 0, dataType, originFormat,
                                               storageShape, Temporary());
    tensor->SetStorageFormat(storageFormat);
    return tensor;
  });
}

aclTensor* aclOpExecutor::AllocTensor(op::DataType dataType, op::Format storageFormat,
                                      op::Format originFormat) {
  // An empty shape until INFER_SHAPE says otherwise: a scalar would pass for an answer.
  const op::Shape unknown({0});
  return AllocTensor(unknown, unknown, dataType, storageFormat, originFormat);
}

aclTensor* aclOpExecutor::AllocHostTensor(const op::Shape& shape, op::DataType dataType,
                                          op::Format format) {
  return Own(*state_, HandleKind::kTensor, "AllocHostTensor", [&] {
    const int64_t bytes = ge::GetSizeInBytes(shape.GetShapeSize(), dataType);
    if (bytes < 0) throw std::bad_alloc();
    auto storage = std::make_shared<Storage>();
    storage->kind = Storage::Kind::kHost;
    storage->host = std::make_unique<op::internal::AlignedBytes>(static_cast<uint64_t>(bytes));
    return HandleMaker::NewTensor(shape, nullptr, 0, dataType, format, shape, std::move(storage));
  });
}

aclTensor* aclOpExecutor::NewHostTensor(const void* values, op::DataType valueType, uint64_t count,
                                        op::DataType dataType) {
  aclTensor* tensor = AllocHostTensor({static_cast<int64_t>(count)}, dataType);
  if (tensor == nullptr) return nullptr;
  if (!op::internal::ConvertElements(values, valueType, tensor->GetStorageAddr(), dataType,
                                     count)) {
    OP_LOGE(ACLNN_ERR_INNER, "a host tensor cannot be made of %s values as %s",
            op::ToString(valueType).GetString(), op::ToString(dataType).GetString());
    return nullptr;
  }
  return tensor;
}

const aclTensor* aclOpExecutor::ConvertToTensor(const aclIntArray* value, op::DataType dataType) {
  return ConvertToTensor(value->GetData(), value->Size(), dataType);
}
const aclTensor* aclOpExecutor::ConvertToTensor(const aclBoolArray* value, op::DataType dataType) {
  return ConvertToTensor(value->GetData(), value->Size(), dataType);
}
const aclTensor* aclOpExecutor::ConvertToTensor(const aclFloatArray* value, op::DataType dataType) {
  return ConvertToTensor(value->GetData(), value->Size(), dataType);
}
const aclTensor* aclOpExecutor::ConvertToTensor(const aclScalar* value, op::DataType dataType) {
  return NewHostTensor(value->GetData(), value->GetDataType(), 1, dataType);
}
const aclTensor* aclOpExecutor::ConvertToTensor(const aclScalarList* value, op::DataType dataType) {
  std::vector<double> numbers;
  for (uint64_t i = 0; i < value->Size(); ++i) numbers.push_back((*value)[i]->ToDouble());
  return ConvertToTensor(numbers.data(), numbers.size(), dataType);
}

aclTensor* aclOpExecutor::CreateView(const aclTensor* tensor, const op::Shape& shape,
                                     int64_t offset) {
  op::Strides strides;
  op::ToContiguousStrides(shape, strides);
  return CreateView(tensor, shape, shape, strides, offset);
}

aclTensor* aclOpExecutor::CreateView(const aclTensor* tensor, const op::Shape& viewShape,
                                     const op::Shape& storageShape, const op::Strides& viewStrides,
                                     int64_t offset) {
  if (tensor == nullptr) {
    OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "CreateView of a NULL tensor");
    return nullptr;
  }
  return Own(*state_, HandleKind::kTensor, "CreateView", [&] {
    aclTensor* view = HandleMaker::NewTensor(viewShape, &viewStrides, offset, tensor->GetDataType(),
                                             tensor->GetViewFormat(), storageShape,
                                             HandleMaker::StorageOf(tensor));
    view->SetStorageFormat(tensor->GetStorageFormat());
    view->SetOriginalFormat(tensor->GetOriginalFormat());
    return view;
  });
}

aclIntArray* aclOpExecutor::AllocIntArray(const int64_t* value, uint64_t size) {
  return Own(*state_, HandleKind::kIntArray, "AllocIntArray", [&] {
    return HandleMaker::NewArray<aclIntArray, int64_t>(value, size, HandleKind::kIntArray);
  });
}
aclFloatArray* aclOpExecutor::AllocFloatArray(const float* value, uint64_t size) {
  return Own(*state_, HandleKind::kFloatArray, "AllocFloatArray", [&] {
    return HandleMaker::NewArray<aclFloatArray, float>(value, size, HandleKind::kFloatArray);
  });
}
aclBoolArray* aclOpExecutor::AllocBoolArray(const bool* value, uint64_t size) {
  return Own(*state_, HandleKind::kBoolArray, "AllocBoolArray", [&] {
    return HandleMaker::NewArray<aclBoolArray, bool>(value, size, HandleKind::kBoolArray);
  });
}
aclTensorList* aclOpExecutor::AllocTensorList(const aclTensor* const* tensors, uint64_t size) {
  return Own(*state_, HandleKind::kTensorList, "AllocTensorList",
             [&] { return HandleMaker::NewTensorList(tensors, size); });
}
aclScalarList* aclOpExecutor::AllocScalarList(const aclScalar* const* scalars, uint64_t size) {
  return Own(*state_, HandleKind::kScalarList, "AllocScalarList",
             [&] { return HandleMaker::NewScalarList(scalars, size); });
}
aclScalar* aclOpExecutor::AllocScalar(const void* data, op::DataType dataType) {
  return Own(*state_, HandleKind::kScalar, "AllocScalar",
             [&] { return HandleMaker::NewScalar(data, dataType); });
}

uint64_t aclOpExecutor::GetWorkspaceSize() const { return state_->GetPlan()->workspaceBytes; }
bool aclOpExecutor::IsRepeatable() const { return state_->repeatable; }
void aclOpExecutor::AbandonCache(bool) {}

UniqueExecutor::UniqueExecutor(const char*) : executor_(nullptr) {
  try {
    executor_ = HandleMaker::NewExecutor();
  } catch (const std::exception& error) {
    OP_LOGE(ACLNN_ERR_INNER_CREATE_EXECUTOR, "an executor cannot be made: %s", error.what());
  }
}

UniqueExecutor::~UniqueExecutor() {
  if (executor_ != nullptr) op::internal::DestroyExecutor(executor_);
}

void UniqueExecutor::ReleaseTo(aclOpExecutor** executor) {
  if (executor == nullptr) return;
  *executor = executor_;
  executor_ = nullptr;
}
