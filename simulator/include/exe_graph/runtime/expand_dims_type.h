// SPDX-License-Identifier: Apache-2.0
// This says where 1-dims go when a shape is padded to a format's rank.
#pragma once

#include <cstdint>
#include <cstring>

#include "exe_graph/runtime/shape.h"
#include "graph/error_codes.h"

namespace gert {

class ExpandDimsType {
 public:
  using AxisIndex = uint64_t;
  static constexpr size_t kMaxExpandSize = 56;

  ExpandDimsType() = default;
  // One character per dim of the full shape, '1' where a 1-dim is inserted.
  explicit ExpandDimsType(const char* pattern) {
    const size_t size = pattern == nullptr ? 0 : std::strlen(pattern);
    if (size > kMaxExpandSize) return;
    size_ = size;
    for (size_t i = 0; i < size; ++i) {
      if (pattern[i] == '1') SetExpandIndex(i);
    }
  }

  bool operator==(const ExpandDimsType& other) const {
    return size_ == other.size_ && mask_ == other.mask_;
  }
  AxisIndex GetFullSize() const { return size_; }
  void SetExpandIndex(AxisIndex index) { mask_ |= uint64_t{1} << index; }
  bool IsExpandIndex(AxisIndex index) const { return ((mask_ >> index) & 1) != 0; }

  ge::graphStatus Expand(const Shape& shape, Shape& out) const {
    if (shape.GetDimNum() == size_) {
      out = shape;
      return ge::GRAPH_SUCCESS;
    }
    Shape result;
    size_t next = 0;
    for (AxisIndex i = 0; i < size_; ++i) {
      if (IsExpandIndex(i)) {
        result.AppendDim(1);
      } else if (next < shape.GetDimNum()) {
        result.AppendDim(shape.GetDim(next++));
      } else {
        return ge::GRAPH_FAILED;
      }
    }
    while (next < shape.GetDimNum()) result.AppendDim(shape.GetDim(next++));
    out = result;
    return ge::GRAPH_SUCCESS;
  }

 private:
  uint64_t size_ = 0;
  uint64_t mask_ = 0;
};

}  // namespace gert
