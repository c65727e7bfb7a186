// SPDX-License-Identifier: Apache-2.0
// What every aclnn program needs: a device with a stream, device memory, tensors, checked calls.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

#define CHECK(call) ::example::Check(call, #call)

namespace example {

inline void Check(int32_t code, const char* call) {
  if (code != ACL_SUCCESS) {
    const char* why = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s returned %d: %s\n", call, code, why == nullptr ? "" : why);
    std::exit(1);
  }
}

// Device 0 and a stream. Declare it first: everything else must be gone before the device is.
class Session {
 public:
  Session() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream_));
  }
  ~Session() {
    aclrtDestroyStream(stream_);
    aclrtResetDevice(0);
    aclFinalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  aclrtStream stream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
};

struct FreeDevice {
  void operator()(void* address) const { aclrtFree(address); }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;

// Null for 0 bytes, which is what the second stage wants then.
inline DeviceMemory Allocate(size_t bytes) {
  void* address = nullptr;
  if (bytes > 0) {
    CHECK(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  return DeviceMemory(address);
}

template <typename T>
constexpr aclDataType kDataType = ACL_DT_UNDEFINED;
template <>
inline constexpr aclDataType kDataType<float> = ACL_FLOAT;
template <>
inline constexpr aclDataType kDataType<uint8_t> = ACL_BOOL;

// A contiguous tensor on the device; destroyed with its memory.
template <typename T>
class Tensor {
 public:
  Tensor(const std::vector<int64_t>& shape, const std::vector<T>& values)
      : columns_(static_cast<size_t>(shape.back())), size_(values.size()) {
    const size_t bytes = size_ * sizeof(T);
    memory_ = Allocate(bytes);
    CHECK(aclrtMemcpy(memory_.get(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    // No strides: row-major.
    tensor_.reset(aclCreateTensor(shape.data(), shape.size(), kDataType<T>, nullptr, 0,
                                  ACL_FORMAT_ND, shape.data(), shape.size(), memory_.get()));
  }
  explicit Tensor(const std::vector<int64_t>& shape) : Tensor(shape, Zeros(shape)) {}

  aclTensor* get() const { return tensor_.get(); }

  void Print() const {
    std::vector<T> values(size_);
    const size_t bytes = size_ * sizeof(T);
    CHECK(aclrtMemcpy(values.data(), bytes, memory_.get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t at = 0; at < size_; ++at) {
      const char end = (at + 1) % columns_ == 0 ? '\n' : ' ';
      std::printf("%9.6f%c", static_cast<double>(values[at]), end);
    }
  }

 private:
  struct Destroy {
    void operator()(aclTensor* tensor) const { aclDestroyTensor(tensor); }
  };

  static std::vector<T> Zeros(const std::vector<int64_t>& shape) {
    size_t size = 1;
    for (const int64_t dim : shape) {
      size *= static_cast<size_t>(dim);
    }
    return std::vector<T>(size);
  }

  size_t columns_;
  size_t size_;
  DeviceMemory memory_;
  std::unique_ptr<aclTensor, Destroy> tensor_;
};

}  // namespace example
