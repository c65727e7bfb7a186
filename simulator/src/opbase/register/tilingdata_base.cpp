// SPDX-License-Identifier: Apache-2.0
// Layout and storage of field-by-field tiling data.
#include "register/tilingdata_base.h"

namespace optiling {

TilingDef::TilingDef(const TilingDef& other)
    : data_ptr_(other.data_ptr_),
      fields_(other.fields_),
      nested_(other.nested_),
      own_(other.own_),
      data_size_(other.data_size_),
      class_name_(other.class_name_) {
  // Structs are members of the class that derives: they lie as far from this one as the other's from it.
  const auto begin = reinterpret_cast<uintptr_t>(&other);
  for (auto& [nested, offset] : nested_) {
    const uintptr_t within = reinterpret_cast<uintptr_t>(nested) - begin;
    nested = reinterpret_cast<TilingDef*>(reinterpret_cast<uintptr_t>(this) + within);
  }
}

size_t TilingDef::AddField(const char* dtype, const char* name, size_t elementSize, size_t count) {
  Align(elementSize);
  const size_t offset = data_size_;
  fields_.push_back({dtype, name, offset, count});
  data_size_ += elementSize * count;
  return offset;
}

size_t TilingDef::AddStruct(const char* name, TilingDef* nested) {
  Align(8);
  const size_t offset = data_size_;
  fields_.push_back({"struct", name, offset, 0});
  nested_.emplace_back(nested, offset);
  data_size_ += nested->GetDataSize();
  return offset;
}

const TilingDef* TilingDef::Nested(size_t index) const {
  for (const auto& [nested, offset] : nested_) {
    if (fields_[index].count == 0 && fields_[index].offset == offset) return nested;
  }
  return nullptr;
}

void TilingDef::Finish(const char* className, bool allocate) {
  class_name_ = className;
  Align(8);
  if (!allocate) return;
  own_ = std::make_shared<uint64_t[]>(data_size_ / 8);
  SetDataPtr(own_.get());
}

void TilingDef::SetDataPtr(void* data) {
  data_ptr_ = static_cast<uint8_t*>(data);
  for (const auto& [nested, offset] : nested_) nested->SetDataPtr(data_ptr_ + offset);
}

void TilingDef::SaveToBuffer(void* data, size_t capacity) const {
  if (data == nullptr || data_ptr_ == nullptr || capacity < data_size_) return;
  std::memmove(data, data_ptr_, data_size_);
}

CTilingDataClassFactory& CTilingDataClassFactory::GetInstance() {
  static CTilingDataClassFactory* factory = new CTilingDataClassFactory;
  return *factory;
}

void CTilingDataClassFactory::RegisterTilingData(const char* opType,
                                                 TilingDataConstructor constructor) {
  constructors_.emplace_back(opType, constructor);
}

std::shared_ptr<TilingDef> CTilingDataClassFactory::CreateTilingDataInstance(
    const char* opType) const {
  for (const auto& [name, constructor] : constructors_) {
    if (name == opType) return constructor();
  }
  return nullptr;
}

}  // namespace optiling
