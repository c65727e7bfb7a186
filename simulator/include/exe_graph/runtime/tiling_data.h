// SPDX-License-Identifier: Apache-2.0
// The buffer that tiling fills and the kernel reads.
#ifndef EXE_GRAPH_RUNTIME_TILING_DATA_H_
#define EXE_GRAPH_RUNTIME_TILING_DATA_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "graph/error_codes.h"

namespace gert {

class TilingData {
 public:
  explicit TilingData(size_t capacity)
      : buffer_(new uint64_t[(capacity + 7) / 8]()), capacity_(capacity) {}

  size_t GetCapacity() const { return capacity_; }
  size_t GetDataSize() const { return data_size_; }
  void SetDataSize(size_t size) { data_size_ = size; }
  void* GetData() { return buffer_.get(); }
  const void* GetData() const { return buffer_.get(); }

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
    void* target = reinterpret_cast<uint8_t*>(buffer_.get()) + data_size_;
    data_size_ += size;
    return target;
  }

 private:
  std::unique_ptr<uint64_t[]> buffer_;
  size_t capacity_;
  size_t data_size_ = 0;
};

template <typename T>
TilingData& operator<<(TilingData& out, const T& data) {
  out.Append(data);
  return out;
}

}  // namespace gert

#endif  // EXE_GRAPH_RUNTIME_TILING_DATA_H_
