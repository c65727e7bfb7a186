// SPDX-License-Identifier: Apache-2.0
// Shapes of graph mode, which tiling hands to the high-level API.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/error_codes.h"
#include "graph/types.h"

namespace ge {

class Shape {
 public:
  Shape() = default;
  explicit Shape(const std::vector<int64_t>& dims) : dims_(dims) {}

  size_t GetDimNum() const { return dims_.size(); }
  int64_t GetDim(size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
  graphStatus SetDim(size_t index, int64_t value) {
    if (index >= dims_.size()) return GRAPH_FAILED;
    dims_[index] = value;
    return GRAPH_SUCCESS;
  }
  std::vector<int64_t> GetDims() const { return dims_; }
  // 1 for a scalar.
  int64_t GetShapeSize() const {
    int64_t size = 1;
    for (int64_t dim : dims_) size *= dim;
    return size;
  }

 private:
  std::vector<int64_t> dims_;
};

// A node of a graph says this of a tensor; without graph mode it is empty.
class TensorDesc {
 public:
  Shape GetShape() const { return {}; }
  Shape GetOriginShape() const { return {}; }
  DataType GetDataType() const { return DT_UNDEFINED; }
  Format GetFormat() const { return FORMAT_RESERVED; }
  Format GetOriginFormat() const { return FORMAT_RESERVED; }
};

}  // namespace ge
