// SPDX-License-Identifier: Apache-2.0
// Vectors whose elements follow the header in memory: how attributes and workspace sizes are handed
// to tiling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "graph/error_codes.h"

namespace gert {

class ContinuousVector {
 public:
  template <typename T>
  static std::unique_ptr<uint8_t[]> Create(size_t capacity) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(capacity, sizeof(T), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(ContinuousVector), &bytes)) {
      return nullptr;
    }
    std::unique_ptr<uint8_t[]> holder(new (std::nothrow) uint8_t[bytes]());
    if (holder != nullptr) reinterpret_cast<ContinuousVector*>(holder.get())->Init(capacity);
    return holder;
  }
  void Init(size_t capacity) {
    capacity_ = capacity;
    size_ = 0;
  }
  size_t GetSize() const { return size_; }
  ge::graphStatus SetSize(size_t size) {
    if (size > capacity_) return ge::GRAPH_PARAM_OUT_OF_RANGE;
    size_ = size;
    return ge::GRAPH_SUCCESS;
  }
  size_t GetCapacity() const { return capacity_; }
  const void* GetData() const { return this + 1; }
  void* MutableData() { return this + 1; }

 private:
  size_t capacity_;
  size_t size_;
};

template <typename T>
class TypedContinuousVector : private ContinuousVector {
 public:
  using ContinuousVector::GetCapacity;
  using ContinuousVector::GetSize;
  using ContinuousVector::SetSize;
  T* MutableData() { return static_cast<T*>(ContinuousVector::MutableData()); }
  const T* GetData() const { return static_cast<const T*>(ContinuousVector::GetData()); }
};

// A vector of vectors: the header, then one byte offset per inner vector, then the inner vectors.
class ContinuousVectorVector {
 public:
  size_t GetSize() const { return size_; }
  const ContinuousVector* Get(size_t index) const {
    if (index >= size_) return nullptr;
    const size_t* offsets = reinterpret_cast<const size_t*>(this + 1);
    return reinterpret_cast<const ContinuousVector*>(reinterpret_cast<const uint8_t*>(this) +
                                                     offsets[index]);
  }
  void Init(size_t size) { size_ = size; }
  size_t* MutableOffsets() { return reinterpret_cast<size_t*>(this + 1); }

 private:
  size_t size_;
};

}  // namespace gert
