// SPDX-License-Identifier: Apache-2.0
// gert::Shape: up to 25 dims by value; no dims is a scalar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "utils/extern_math_util.h"

namespace gert {

struct Shape {
 public:
  static constexpr size_t kMaxDimNum = 25;
  static constexpr int64_t kInvalidDimValue = std::numeric_limits<int64_t>::min();

  Shape() = default;
  Shape(const std::initializer_list<int64_t>& dims) {
    if (dims.size() > kMaxDimNum) return;
    for (int64_t dim : dims) dims_[dim_num_++] = dim;
  }

  bool operator==(const Shape& other) const {
    return dim_num_ == other.dim_num_ &&
           std::memcmp(dims_, other.dims_, dim_num_ * sizeof(int64_t)) == 0;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

  // Product of the dims, 1 for a scalar, kInvalidDimValue on overflow.
  int64_t GetShapeSize() const {
    int64_t size = 1;
    for (size_t i = 0; i < dim_num_; ++i) {
      if (ge::MulOverflow(size, dims_[i], size)) return kInvalidDimValue;
    }
    return size;
  }

  bool IsScalar() const { return dim_num_ == 0; }
  void SetScalar() { dim_num_ = 0; }
  size_t GetDimNum() const { return dim_num_; }
  void SetDimNum(size_t dimNum) { dim_num_ = dimNum > kMaxDimNum ? kMaxDimNum : dimNum; }
  int64_t GetDim(size_t index) const {
    return index < kMaxDimNum ? dims_[index] : kInvalidDimValue;
  }
  const int64_t& operator[](size_t index) const { return dims_[index]; }
  int64_t& operator[](size_t index) { return dims_[index]; }
  void SetDim(size_t index, int64_t value) {
    if (index >= kMaxDimNum) return;
    dims_[index] = value;
    if (dim_num_ < index) dim_num_ = index;
  }
  Shape& AppendDim(int64_t value) {
    if (dim_num_ < kMaxDimNum) dims_[dim_num_++] = value;
    return *this;
  }

 private:
  size_t dim_num_ = 0;
  int64_t dims_[kMaxDimNum] = {};
};

}  // namespace gert
