// SPDX-License-Identifier: Apache-2.0
// A tensor's shape as the user sees it (origin) and as memory holds it (storage).
#pragma once

#include "exe_graph/runtime/shape.h"

namespace gert {

struct StorageShape {
 public:
  StorageShape() = default;
  StorageShape(const std::initializer_list<int64_t>& origin,
               const std::initializer_list<int64_t>& storage)
      : origin_shape_(origin), storage_shape_(storage) {}

  const Shape& GetOriginShape() const { return origin_shape_; }
  const Shape& GetShape() const { return origin_shape_; }
  const Shape& GetStorageShape() const { return storage_shape_; }
  Shape& MutableShape() { return origin_shape_; }
  Shape& MutableOriginShape() { return origin_shape_; }
  Shape& MutableStorageShape() { return storage_shape_; }

  bool operator==(const StorageShape& other) const {
    return origin_shape_ == other.origin_shape_ && storage_shape_ == other.storage_shape_;
  }
  bool operator!=(const StorageShape& other) const { return !(*this == other); }

 private:
  Shape origin_shape_;
  Shape storage_shape_;
};

}  // namespace gert
