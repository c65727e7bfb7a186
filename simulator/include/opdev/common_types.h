// SPDX-License-Identifier: Apache-2.0
// The classes behind the C handles: aclTensor, aclScalar, arrays and lists.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"
#include "exe_graph/runtime/runtime_tensor.h"
#include "exe_graph/runtime/shape.h"
#include "graph/ascend_string.h"
#include "graph/types.h"
#include "opdev/bfloat16.h"
#include "opdev/fast_vector.h"
#include "opdev/fp16_t.h"
#include "opdev/object.h"
#include "opdev/op_def.h"
#include "securec.h"

namespace op {

constexpr uint64_t MAX_DIM_NUM = 25;
using Strides = FVector<int64_t, MAX_DIM_NUM>;
using ShapeVector = FVector<int64_t, MAX_DIM_NUM>;
using Shape = gert::Shape;
using Format = ge::Format;
using DataType = ge::DataType;
using Tensor = gert::TensorV2;
using StorageShape = gert::StorageShape;
using StorageFormat = gert::StorageFormat;
using TensorPlacement = gert::TensorPlacement;

ge::AscendString ToString(DataType dataType);
// Row-major strides of shape.
void ToContiguousStrides(const Shape& shape, Strides& strides);

namespace internal {

struct Storage;      // where a tensor's bytes are; shared between a tensor and its views
struct HandleMaker;  // the only one who makes and destroys handles

// Element conversion with the rules of l0op::Cast, host to host. False when a type has none.
bool ConvertElements(const void* from, DataType fromType, void* to, DataType toType,
                     uint64_t count);

template <typename T>
constexpr DataType DataTypeOf() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return DataType::DT_BOOL;
  else if constexpr (std::is_same_v<U, float>)
    return DataType::DT_FLOAT;
  else if constexpr (std::is_same_v<U, double>)
    return DataType::DT_DOUBLE;
  else if constexpr (std::is_same_v<U, fp16_t>)
    return DataType::DT_FLOAT16;
  else if constexpr (std::is_same_v<U, bfloat16>)
    return DataType::DT_BF16;
  else if constexpr (std::is_same_v<U, std::complex<float>>)
    return DataType::DT_COMPLEX64;
  else if constexpr (std::is_same_v<U, std::complex<double>>)
    return DataType::DT_COMPLEX128;
  else if constexpr (sizeof(U) == 1)
    return std::is_signed_v<U> ? DataType::DT_INT8 : DataType::DT_UINT8;
  else if constexpr (sizeof(U) == 2)
    return std::is_signed_v<U> ? DataType::DT_INT16 : DataType::DT_UINT16;
  else if constexpr (sizeof(U) == 4)
    return std::is_signed_v<U> ? DataType::DT_INT32 : DataType::DT_UINT32;
  else
    return std::is_signed_v<U> ? DataType::DT_INT64 : DataType::DT_UINT64;
}

}  // namespace internal
}  // namespace op

template <typename T>
class aclArray : public op::Object {
 public:
  T& operator[](uint64_t i) { return values_[i]; }
  const T& operator[](uint64_t i) const { return values_[i]; }
  uint64_t Size() const { return values_.size(); }
  const T* GetData() const { return values_.data(); }
  ge::AscendString ToString() const;

 protected:
  aclArray(const T* values, uint64_t size) : values_(values, values + size) {}

 private:
  op::FVector<T> values_;
};

#define ACL_DEFINE_ARRAY_(Name, T)                                                  \
  struct acl##Name##Array : public aclArray<T> {                                    \
   private:                                                                         \
    friend struct op::internal::HandleMaker;                                        \
    acl##Name##Array(const T* values, uint64_t size) : aclArray<T>(values, size) {} \
  }
ACL_DEFINE_ARRAY_(Bool, bool);
ACL_DEFINE_ARRAY_(Int, int64_t);
ACL_DEFINE_ARRAY_(Float, float);
ACL_DEFINE_ARRAY_(Fp16, op::fp16_t);
ACL_DEFINE_ARRAY_(Bf16, op::bfloat16);
#undef ACL_DEFINE_ARRAY_

// A strided view of a storage. Offsets and strides count elements.
struct aclTensor : public op::Object {
 public:
  const op::Shape& GetViewShape() const { return view_shape_; }
  void SetViewShape(const op::Shape& shape);  // row-major strides go with it
  const op::Shape& GetStorageShape() const { return tensor_.GetStorageShape(); }
  void SetStorageShape(const op::Shape& shape) const { tensor_.MutableStorageShape() = shape; }
  const op::Shape& GetOriginalShape() const { return tensor_.GetOriginShape(); }
  void SetOriginalShape(const op::Shape& shape) const { tensor_.MutableOriginShape() = shape; }

  op::Format GetStorageFormat() const { return tensor_.GetStorageFormat(); }
  void SetStorageFormat(op::Format format) { tensor_.SetStorageFormat(format); }
  op::Format GetOriginalFormat() const { return tensor_.GetOriginFormat(); }
  void SetOriginalFormat(op::Format format) { tensor_.SetOriginFormat(format); }
  op::Format GetViewFormat() const { return view_format_; }
  void SetViewFormat(op::Format format) { view_format_ = format; }

  const op::Strides& GetViewStrides() const { return view_strides_; }
  void SetViewStrides(const op::Strides& strides) { view_strides_ = strides; }
  int64_t GetViewOffset() const { return view_offset_; }
  void SetViewOffset(int64_t offset) const { view_offset_ = offset; }
  int64_t GetStorageOffset() const { return 0; }

  op::DataType GetDataType() const { return tensor_.GetDataType(); }
  void SetDataType(op::DataType dataType) { tensor_.SetDataType(dataType); }

  // Elements of the storage shape, and of the view.
  int64_t Size() const { return GetStorageShape().GetShapeSize(); }
  int64_t Numel() const { return view_shape_.GetShapeSize(); }
  // Any view dim is 0. A rank-0 tensor has one element.
  bool IsEmpty() const;

  // A device address, of the storage and of the view's first element; a host address for host
  // tensors; nullptr for temporaries, which have no address before the executor runs.
  void* GetStorageAddr() const;
  void SetStorageAddr(void* addr) const;
  void* GetData() const;
  op::TensorPlacement GetPlacement() const;
  bool IsFromWorkspace() const;
  // The simulator knows without being told whether a tensor is a temporary.
  void SetFromWorkspace(bool) const {}
  op::Tensor* GetTensor() const;

  // Writes elements of a host tensor, converted to dataType, which becomes the tensor's.
  template <typename T>
  void SetData(int64_t index, const T value, op::DataType dataType) {
    SetElements(index, &value, op::internal::DataTypeOf<T>(), 1, dataType);
  }
  template <typename T>
  void SetData(const T* values, uint64_t size, op::DataType dataType) {
    SetElements(0, values, op::internal::DataTypeOf<T>(), size, dataType);
  }
  void SetBoolData(const bool* values, uint64_t size, op::DataType dataType) {
    SetData(values, size, dataType);
  }
  void SetIntData(const int64_t* values, uint64_t size, op::DataType dataType) {
    SetData(values, size, dataType);
  }
  void SetFloatData(const float* values, uint64_t size, op::DataType dataType) {
    SetData(values, size, dataType);
  }

  ge::AscendString ToString() const;

 private:
  friend struct op::internal::HandleMaker;
  aclTensor() = default;
  void SetElements(int64_t index, const void* values, op::DataType valueType, uint64_t count,
                   op::DataType dataType);

  mutable op::Tensor tensor_;  // storage shape, original shape, formats, dtype
  std::shared_ptr<op::internal::Storage> storage_;
  op::Shape view_shape_;
  op::Strides view_strides_;
  mutable int64_t view_offset_ = 0;
  op::Format view_format_ = op::Format::FORMAT_ND;
};

struct aclTensorList : public op::Object {
 public:
  aclTensor*& operator[](uint64_t i) { return tensors_[i]; }
  const aclTensor* operator[](uint64_t i) const { return tensors_[i]; }
  uint64_t Size() const { return tensors_.size(); }
  const aclTensor* const* GetData() const { return tensors_.data(); }
  ge::AscendString ToString() const;

 private:
  friend struct op::internal::HandleMaker;
  aclTensorList() = default;
  std::vector<aclTensor*> tensors_;
};

struct aclScalar : public op::Object {
 public:
  aclScalar(const void* data, op::DataType dataType);

  const void* GetData() const { return value_; }
  uint64_t Size() const;
  op::DataType GetDataType() const { return data_type_; }
  float ToFloat() const { return To<float>(); }
  double ToDouble() const { return To<double>(); }
  bool ToBool() const { return To<bool>(); }
  int8_t ToInt8() const { return To<int8_t>(); }
  int16_t ToInt16() const { return To<int16_t>(); }
  int32_t ToInt32() const { return To<int32_t>(); }
  int64_t ToInt64() const { return To<int64_t>(); }
  uint8_t ToUint8() const { return To<uint8_t>(); }
  uint16_t ToUint16() const { return To<uint16_t>(); }
  uint32_t ToUint32() const { return To<uint32_t>(); }
  uint64_t ToUint64() const { return To<uint64_t>(); }
  op::fp16_t ToFp16() const { return To<op::fp16_t>(); }
  op::bfloat16 ToBf16() const { return To<op::bfloat16>(); }
  std::complex<float> ToComplex64() const { return To<std::complex<float>>(); }
  std::complex<double> ToComplex128() const { return To<std::complex<double>>(); }
  // True when the value, finite, lies outside the range of T.
  template <typename T>
  bool CheckOverflows() const {
    const double value = ToDouble();
    return value < static_cast<double>(std::numeric_limits<T>::lowest()) ||
           value > static_cast<double>(std::numeric_limits<T>::max());
  }
  ge::AscendString ToString() const;

 private:
  template <typename T>
  T To() const {
    T result{};
    op::internal::ConvertElements(value_, data_type_, &result, op::internal::DataTypeOf<T>(), 1);
    return result;
  }

  op::DataType data_type_;
  alignas(16) unsigned char value_[16] = {};
};

struct aclScalarList : public op::Object {
 public:
  aclScalar*& operator[](uint64_t i) { return scalars_[i]; }
  const aclScalar* operator[](uint64_t i) const { return scalars_[i]; }
  uint64_t Size() const { return scalars_.size(); }
  const aclScalar* const* GetData() const { return scalars_.data(); }
  ge::AscendString ToString() const;

 private:
  friend struct op::internal::HandleMaker;
  aclScalarList() = default;
  std::vector<aclScalar*> scalars_;
};

ge::AscendString ToString(const aclTensor* t);
ge::AscendString ToString(const aclTensorList* t);
ge::AscendString ToString(const aclIntArray* t);
ge::AscendString ToString(const aclBoolArray* t);
ge::AscendString ToString(const aclFloatArray* t);
ge::AscendString ToString(const aclScalar* t);
ge::AscendString ToString(const aclScalarList* t);
ge::AscendString ToString(aclDataType dataType);
