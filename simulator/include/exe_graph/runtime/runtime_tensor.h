// SPDX-License-Identifier: Apache-2.0
// gert::Tensor: shape, format, dtype and, for value-dependent inputs, host data. TensorV2 adds
// strides and offset.
#pragma once

#include "exe_graph/runtime/storage_format.h"
#include "exe_graph/runtime/storage_shape.h"
#include "exe_graph/runtime/stride.h"
#include "exe_graph/runtime/tensor_data.h"
#include "graph/types.h"

namespace gert {

// First member is the StorageShape and contexts rely on it: a shape getter hands out the tensor's
// own shape.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const StorageShape& shape, const StorageFormat& format, TensorPlacement placement,
         ge::DataType dataType, TensorAddress addr)
      : storage_shape_(shape),
        storage_format_(format),
        data_type_(dataType),
        tensor_data_(addr, SizeOf(shape.GetStorageShape(), dataType), placement) {}
  Tensor(const StorageShape& shape, const StorageFormat& format, ge::DataType dataType)
      : storage_shape_(shape), storage_format_(format), data_type_(dataType) {}

  int64_t GetShapeSize() const { return storage_shape_.GetStorageShape().GetShapeSize(); }
  template <class T>
  const T* GetData() const {
    return static_cast<const T*>(GetAddr());
  }
  template <class T>
  T* GetData() {
    return static_cast<T*>(GetAddr());
  }
  const void* GetAddr() const { return tensor_data_.GetAddr(); }
  void* GetAddr() { return tensor_data_.GetAddr(); }
  size_t GetSize() const { return tensor_data_.GetSize(); }
  void SetSize(size_t size) { tensor_data_.SetSize(size); }
  ge::DataType GetDataType() const { return data_type_; }
  void SetDataType(ge::DataType dataType) { data_type_ = dataType; }

  const Shape& GetStorageShape() const { return storage_shape_.GetStorageShape(); }
  Shape& MutableStorageShape() { return storage_shape_.MutableStorageShape(); }
  const Shape& GetOriginShape() const { return storage_shape_.GetOriginShape(); }
  Shape& MutableOriginShape() { return storage_shape_.MutableOriginShape(); }
  const StorageShape& GetShape() const { return storage_shape_; }
  StorageShape& GetShape() { return storage_shape_; }

  ge::Format GetStorageFormat() const { return storage_format_.GetStorageFormat(); }
  void SetStorageFormat(ge::Format format) { storage_format_.SetStorageFormat(format); }
  ge::Format GetOriginFormat() const { return storage_format_.GetOriginFormat(); }
  void SetOriginFormat(ge::Format format) { storage_format_.SetOriginFormat(format); }
  const StorageFormat& GetFormat() const { return storage_format_; }
  StorageFormat& MutableFormat() { return storage_format_; }
  ExpandDimsType GetExpandDimsType() const { return storage_format_.GetExpandDimsType(); }

  TensorPlacement GetPlacement() const { return tensor_data_.GetPlacement(); }
  void SetPlacement(TensorPlacement placement) { tensor_data_.SetPlacement(placement); }
  const TensorData& GetTensorData() const { return tensor_data_; }
  TensorData& MutableTensorData() { return tensor_data_; }

 private:
  static size_t SizeOf(const Shape& shape, ge::DataType dataType) {
    const int64_t bytes = ge::GetSizeInBytes(shape.GetShapeSize(), dataType);
    return bytes < 0 ? 0 : static_cast<size_t>(bytes);
  }

  StorageShape storage_shape_;
  StorageFormat storage_format_;
  ge::DataType data_type_ = ge::DT_UNDEFINED;
  TensorData tensor_data_;
};

class TensorV2 : public Tensor {
 public:
  using Tensor::Tensor;
  const Stride& GetStride() const { return stride_; }
  Stride& MutableStride() { return stride_; }
  int64_t GetOffset() const { return offset_; }
  void SetOffset(int64_t offset) { offset_ = offset; }

 private:
  Stride stride_;
  int64_t offset_ = 0;
};

}  // namespace gert
