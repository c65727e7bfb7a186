// SPDX-License-Identifier: Apache-2.0
// The live handles of the process.
#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "opbase/storage.h"
#include "opdev/op_executor.h"
#include "opdev/shape_utils.h"

namespace op::internal {
namespace {

constexpr size_t kQuarantine = 4096;

struct LiveHandle {
  HandleKind kind;
  bool executor;
  void (*destruct)(void*);
};

class HandleTable {
 public:
  template <typename T>
  T* Add(HandleKind kind, bool executor, T* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    live_[handle] = {kind, executor, [](void* p) { static_cast<T*>(p)->~T(); }};
    return handle;
  }

  bool Alive(HandleKind kind, bool executor, const void* handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = live_.find(handle);
    return found != live_.end() && found->second.kind == kind && found->second.executor == executor;
  }

  bool Destroy(HandleKind kind, bool executor, const void* handle) {
    void (*destruct)(void*) = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = live_.find(handle);
      if (found == live_.end() || found->second.kind != kind ||
          found->second.executor != executor) {
        return false;
      }
      destruct = found->second.destruct;
      live_.erase(found);
    }
    // Outside the lock: an executor's destructor destroys the handles that it owns.
    destruct(const_cast<void*>(handle));
    void* oldest = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      quarantine_.push_back(const_cast<void*>(handle));
      if (quarantine_.size() > kQuarantine) {
        oldest = quarantine_.front();
        quarantine_.pop_front();
      }
    }
    ::operator delete(oldest);  // its destructor has run
    return true;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, LiveHandle> live_;
  std::deque<void*> quarantine_;
};

// Never destroyed: handles may be destroyed by static destructors of the caller.
HandleTable& Table() {
  static HandleTable* table = new HandleTable;
  return *table;
}

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
  return Table().Destroy(kind, false, handle);
}

bool IsAliveExecutor(const aclOpExecutor* executor) {
  return Table().Alive(HandleKind::kOther, true, executor);
}

bool DestroyExecutor(aclOpExecutor* executor) {
  return Table().Destroy(HandleKind::kOther, true, executor);
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
