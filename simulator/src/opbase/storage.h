// SPDX-License-Identifier: Apache-2.0
// A storage says where a tensor's bytes are; the maker of handles is here too.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "opdev/common_types.h"
#include "opdev/op_dfx.h"

struct aclOpExecutor;

namespace op::internal {

// Host bytes that a kernel may be given: aligned like device memory.
class AlignedBytes {
 public:
  explicit AlignedBytes(uint64_t bytes);
  uint8_t* data() const { return data_.get(); }
  uint64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  uint64_t size_ = 0;
};

struct Storage {
  enum class Kind {
    kCaller,     // device memory that the caller names by address, now or before a run
    kTemporary,  // a piece of the workspace
    kHost,       // owned here
  };
  Kind kind = Kind::kCaller;
  void* addr = nullptr;  // kCaller
  int64_t elements = 0;  // kCaller: what its tensor's storage shape holds
  // kCaller: the tensor that brought the address is gone.
  std::atomic<bool> ownerDestroyed = false;
  std::unique_ptr<AlignedBytes> host;  // kHost

  // Set by planning, kTemporary: bytes from the start of the workspace, or of boundTo, whose memory
  // it then shares.
  uint64_t offset = 0;
  std::shared_ptr<Storage> boundTo;
};

// Makes and destroys every handle, and knows which are alive. The memory of destroyed ones is kept
// for a while, so that a stale pointer is recognised instead of hitting a new object at the same
// address. Members of one that a thread destroys during another thread's call live until that call
// has returned (HoldHandles).
struct HandleMaker {
  static aclTensor* NewTensor(const Shape& viewShape, const Strides* strides, int64_t offset,
                              DataType dataType, Format format, const Shape& storageShape,
                              std::shared_ptr<Storage> storage);
  static void InitTensor(aclTensor* tensor, const Shape& viewShape, const Strides* strides,
                         int64_t offset, DataType dataType, Format format,
                         const Shape& storageShape);
  // Says where a caller's tensor is and how much its storage shape promises there.
  static void DescribeCaller(aclTensor* tensor, void* addr);
  static aclTensorList* NewTensorList(const aclTensor* const* tensors, uint64_t size);
  static aclScalarList* NewScalarList(const aclScalar* const* scalars, uint64_t size);
  static aclScalar* NewScalar(const void* data, DataType dataType);
  template <typename Array, typename T>
  static Array* NewArray(const T* values, uint64_t size, HandleKind kind);
  static aclOpExecutor* NewExecutor();
  static const std::shared_ptr<Storage>& StorageOf(const aclTensor* tensor) {
    return tensor->storage_;
  }
};

bool IsAlive(HandleKind kind, const void* handle);
// False when the handle is not alive; nothing happens then.
bool DestroyHandle(HandleKind kind, const void* handle);

bool IsAliveExecutor(const aclOpExecutor* executor);
// ran: the one run of an executor that is not repeatable is what ended it.
bool DestroyExecutor(aclOpExecutor* executor, bool ran = false);

// Why a handle is not a live one of that kind (kOther: an executor), in words: "is not a live
// aclTensor: it was an aclTensor that was destroyed". mistake: the kind of an aclsim::Misuse.
struct Stale {
  std::string text;
  const char* mistake = "";
};
Stale DescribeStale(HandleKind kind, const void* handle);

// Handles that this thread makes while one exists are the program's to destroy; the others belong
// to what made them.
class MadeByProgram {
 public:
  explicit MadeByProgram(const char* function, const void* caller);
  ~MadeByProgram();
  MadeByProgram(const MadeByProgram&) = delete;
  MadeByProgram& operator=(const MadeByProgram&) = delete;
};

const char* HandleKindName(HandleKind kind);

// An array of aclGetViewShape and its kin, which the program must give back with delete[]. They are longer than asked for: of a
// length that hardly anybody else asks for, so that freed ones are not taken for others.
inline constexpr size_t kArrayMargin = 40;
void NoteArray(const char* function, const int64_t* array, size_t count);

}  // namespace op::internal
