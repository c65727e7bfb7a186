// SPDX-License-Identifier: Apache-2.0
// The buffer that tiling fills and the kernel reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "graph/error_codes.h"

namespace gert {

// The data follow the header in memory, or lie where Init says.
class TilingData {
 public:
  TilingData() = default;
  TilingData(const TilingData&) = delete;
  TilingData& operator=(const TilingData&) = delete;

  static std::unique_ptr<uint8_t[]> CreateCap(size_t capacity) {
    size_t bytes = 0;
    if (__builtin_add_overflow(capacity, sizeof(TilingData), &bytes)) return nullptr;
    std::unique_ptr<uint8_t[]> holder(new (std::nothrow) uint8_t[bytes]());
    if (holder != nullptr) {
      auto* data = new (holder.get()) TilingData;
      data->Init(capacity, holder.get() + sizeof(TilingData));
    }
    return holder;
  }
  void Init(size_t capacity, const void* data) {
    capacity_ = capacity;
    data_size_ = 0;
    data_ = const_cast<void*>(data);
  }
  size_t GetCapacity() const { return capacity_; }
  size_t GetDataSize() const { return data_size_; }
  void SetDataSize(size_t size) { data_size_ = size; }
  void* GetData() { return data_; }
  const void* GetData() const { return data_; }

  template <typename T, std::enable_if_t<std::is_standard_layout<T>::value, int> = 0>
  ge::graphStatus Append(const T& data) {
    return Append(&data, 1);
  }
  template <typename T, std::enable_if_t<std::is_standard_layout<T>::value, int> = 0>
  ge::graphStatus Append(const T* data, size_t count) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(sizeof(T), count, &bytes)) return ge::GRAPH_FAILED;
    void* target = Expand(bytes);
    if (target == nullptr) return ge::GRAPH_FAILED;
    std::memcpy(target, data, bytes);
    return ge::GRAPH_SUCCESS;
  }
  // Room for size more bytes at the end; nullptr when the capacity is exceeded.
  void* Expand(size_t size) {
    if (size > capacity_ || data_size_ > capacity_ - size) return nullptr;
    void* target = static_cast<uint8_t*>(data_) + data_size_;
    data_size_ += size;
    return target;
  }

 private:
  size_t capacity_ = 0;
  size_t data_size_ = 0;
  void* data_ = nullptr;
};

template <typename T>
TilingData& operator<<(TilingData& out, const T& data) {
  out.Append(data);
  return out;
}

}  // namespace gert
