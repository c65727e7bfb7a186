// SPDX-License-Identifier: Apache-2.0
// gert::Stride: strides of a view, in elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

namespace gert {

struct Stride {
 public:
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidStrideValue = std::numeric_limits<int64_t>::min();

  Stride() = default;
  Stride(const std::initializer_list<int64_t>& strides) {
    if (strides.size() > kMaxDimNum) return;
    for (int64_t stride : strides) strides_[dim_num_++] = stride;
  }

  bool operator==(const Stride& other) const {
    return dim_num_ == other.dim_num_ &&
           std::memcmp(strides_, other.strides_, dim_num_ * sizeof(int64_t)) == 0;
  }
  bool operator!=(const Stride& other) const { return !(*this == other); }

  size_t GetDimNum() const { return dim_num_; }
  void SetDimNum(size_t dimNum) { dim_num_ = dimNum > kMaxDimNum ? kMaxDimNum : dimNum; }
  int64_t GetStride(size_t index) const {
    return index < kMaxDimNum ? strides_[index] : kInvalidStrideValue;
  }
  const int64_t& operator[](size_t index) const { return strides_[index]; }
  int64_t& operator[](size_t index) { return strides_[index]; }
  Stride& AppendStride(int64_t value) {
    if (dim_num_ < kMaxDimNum) strides_[dim_num_++] = value;
    return *this;
  }

 private:
  size_t dim_num_ = 0;
  int64_t strides_[kMaxDimNum] = {};
};

}  // namespace gert
