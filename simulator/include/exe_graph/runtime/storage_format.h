// SPDX-License-Identifier: Apache-2.0
// A tensor's format as the user sees it and as memory holds it.
#pragma once

#include "exe_graph/runtime/expand_dims_type.h"
#include "graph/types.h"

namespace gert {

struct StorageFormat {
 public:
  StorageFormat() = default;
  StorageFormat(ge::Format origin, ge::Format storage, const ExpandDimsType& expandDims)
      : origin_format_(origin), storage_format_(storage), expand_dims_type_(expandDims) {}

  ge::Format GetOriginFormat() const { return origin_format_; }
  void SetOriginFormat(ge::Format format) { origin_format_ = format; }
  ge::Format GetStorageFormat() const { return storage_format_; }
  void SetStorageFormat(ge::Format format) { storage_format_ = format; }
  ExpandDimsType GetExpandDimsType() const { return expand_dims_type_; }
  void SetExpandDimsType(const ExpandDimsType& type) { expand_dims_type_ = type; }
  ExpandDimsType& MutableExpandDimsType() { return expand_dims_type_; }

  bool operator==(const StorageFormat& other) const {
    return origin_format_ == other.origin_format_ && storage_format_ == other.storage_format_ &&
           expand_dims_type_ == other.expand_dims_type_;
  }
  bool operator!=(const StorageFormat& other) const { return !(*this == other); }

 private:
  ge::Format origin_format_ = ge::FORMAT_ND;
  ge::Format storage_format_ = ge::FORMAT_ND;
  ExpandDimsType expand_dims_type_;
};

}  // namespace gert
