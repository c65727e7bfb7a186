// SPDX-License-Identifier: Apache-2.0
// Members of aclTensor, aclScalar, arrays and lists.
#include <cstring>
#include <sstream>

#include "host/fork.h"
#include "host/lock.h"
#include "opbase/storage.h"
#include "opdev/data_type_utils.h"
#include "opdev/format_utils.h"
#include "opdev/op_log.h"
#include "opdev/shape_utils.h"

using op::internal::Storage;

void aclTensor::SetViewShape(const op::Shape& shape) {
  view_shape_ = shape;
  op::ToContiguousStrides(shape, view_strides_);
}

bool aclTensor::IsEmpty() const {
  for (size_t i = 0; i < view_shape_.GetDimNum(); ++i) {
    if (view_shape_[i] == 0) return true;
  }
  return false;
}

void* aclTensor::GetStorageAddr() const {
  if (storage_->kind == Storage::Kind::kHost) return storage_->host->data();
  return storage_->kind == Storage::Kind::kCaller ? storage_->addr : nullptr;
}

void aclTensor::SetStorageAddr(void* addr) const {
  if (storage_->kind == Storage::Kind::kCaller) storage_->addr = addr;
}

void* aclTensor::GetData() const {
  void* start = GetStorageAddr();
  if (start == nullptr) return nullptr;
  return static_cast<char*>(start) + op::CalcShapeBytes(view_offset_, GetDataType());
}

op::TensorPlacement aclTensor::GetPlacement() const {
  return storage_->kind == Storage::Kind::kHost ? gert::kOnHost : gert::kOnDeviceHbm;
}

bool aclTensor::IsFromWorkspace() const { return storage_->kind == Storage::Kind::kTemporary; }

op::Tensor* aclTensor::GetTensor() const {
  // Threads may share a tensor that they read.
  static aclsim::PerProcess<aclsim::Mutex<9, "addresses of tensors">> mutex;
  const std::lock_guard lock(*mutex);
  gert::TensorData& data = tensor_.MutableTensorData();
  if (data.GetAddr() != GetStorageAddr()) data.SetAddr(GetStorageAddr());
  if (data.GetPlacement() != GetPlacement()) data.SetPlacement(GetPlacement());
  return &tensor_;
}

void aclTensor::SetElements(int64_t index, const void* values, op::DataType valueType,
                            uint64_t count, op::DataType dataType) {
  if (storage_->kind != Storage::Kind::kHost) {
    OP_LOGE(ACLNN_ERR_INNER, "SetData works on host tensors only; make one with AllocHostTensor");
    return;
  }
  const uint64_t size = op::TypeSize(dataType);
  const uint64_t capacity = storage_->host->size();
  uint64_t end = 0;
  if (index < 0 || __builtin_add_overflow(static_cast<uint64_t>(index), count, &end) ||
      __builtin_mul_overflow(end, size, &end) || end > capacity) {
    OP_LOGE(ACLNN_ERR_INNER,
            "SetData of %lu elements from %ld on does not fit into a host tensor of %lu bytes",
            static_cast<unsigned long>(count), static_cast<long>(index),
            static_cast<unsigned long>(capacity));
    return;
  }
  uint8_t* target = storage_->host->data() + static_cast<uint64_t>(index) * size;
  if (!op::internal::ConvertElements(values, valueType, target, dataType, count)) {
    OP_LOGE(ACLNN_ERR_INNER, "SetData cannot convert %s to %s", op::ToString(valueType).GetString(),
            op::ToString(dataType).GetString());
    return;
  }
  SetDataType(dataType);
}

ge::AscendString aclTensor::ToString() const {
  std::ostringstream text;
  text << op::ToString(GetDataType()).GetString() << op::ToString(view_shape_).GetString()
       << " strides " << op::ToString(view_strides_).GetString() << " offset " << view_offset_
       << " storage " << op::ToString(GetStorageShape()).GetString() << " at " << GetStorageAddr();
  return text.str().c_str();
}

aclScalar::aclScalar(const void* data, op::DataType dataType) : data_type_(dataType) {
  const uint64_t size = Size();
  if (data != nullptr && size <= sizeof(value_)) std::memcpy(value_, data, size);
}

uint64_t aclScalar::Size() const {
  const int size = ge::GetSizeByDataType(data_type_);
  if (size < 0) return 0;
  return size >= ge::kDataTypeSizeBitOffset ? 1 : static_cast<uint64_t>(size);
}

ge::AscendString aclScalar::ToString() const {
  std::ostringstream text;
  if (op::IsComplexType(data_type_)) {
    text << ToComplex128();
  } else if (op::IsIntegralType(data_type_, true)) {
    data_type_ == ge::DT_UINT64 ? text << ToUint64() : text << ToInt64();
  } else {
    text << ToDouble();
  }
  text << " (" << op::ToString(data_type_).GetString() << ")";
  return text.str().c_str();
}

template <typename T>
ge::AscendString aclArray<T>::ToString() const {
  std::ostringstream text;
  text << "[";
  for (uint64_t i = 0; i < Size(); ++i) text << (i == 0 ? "" : ", ") << values_[i];
  text << "]";
  return text.str().c_str();
}
template class aclArray<int64_t>;
template class aclArray<float>;
template class aclArray<bool>;
template class aclArray<op::fp16_t>;
template class aclArray<op::bfloat16>;

namespace {

template <typename T>
ge::AscendString HandleText(const T* handle) {
  return handle == nullptr ? ge::AscendString("NULL") : handle->ToString();
}

template <typename T>
ge::AscendString ListText(const T* const* items, uint64_t size) {
  std::string text = "[";
  for (uint64_t i = 0; i < size; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(HandleText(items[i]).GetString());
  }
  return (text + "]").c_str();
}

}  // namespace

ge::AscendString aclTensorList::ToString() const { return ListText(GetData(), Size()); }
ge::AscendString aclScalarList::ToString() const { return ListText(GetData(), Size()); }

ge::AscendString ToString(const aclTensor* t) { return HandleText(t); }
ge::AscendString ToString(const aclTensorList* t) { return HandleText(t); }
ge::AscendString ToString(const aclIntArray* t) { return HandleText(t); }
ge::AscendString ToString(const aclBoolArray* t) { return HandleText(t); }
ge::AscendString ToString(const aclFloatArray* t) { return HandleText(t); }
ge::AscendString ToString(const aclScalar* t) { return HandleText(t); }
ge::AscendString ToString(const aclScalarList* t) { return HandleText(t); }
ge::AscendString ToString(aclDataType dataType) { return op::ToString(op::ToOpDataType(dataType)); }
