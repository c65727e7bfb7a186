// SPDX-License-Identifier: Apache-2.0
// Tiling data declared field by field: BEGIN_TILING_DATA_DEF ... END_TILING_DATA_DEF. The buffer
// has the layout of a plain struct with the same fields: each aligned to its size, nested structs
// and the whole to 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>  // op_host sources take it from here
#include <memory>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "securec.h"

namespace optiling {

struct FieldInfo {
  const char* dtype_;
  const char* name_;
  size_t offset;
  size_t count;  // elements; 0 for a nested struct
};

class TilingDef {
 public:
  TilingDef() = default;
  // A copy and an assignment take the other one's memory, as CANN's do: both read and write there from then on. Here the memory lives
  // as long as any of them.
  TilingDef(const TilingDef& other);
  TilingDef& operator=(const TilingDef& other) {
    SetDataPtr(other.data_ptr_);
    own_ = other.own_;
    return *this;
  }
  virtual ~TilingDef() = default;

  // Copies the fields; does nothing when capacity is too small.
  void SaveToBuffer(void* data, size_t capacity) const;
  const std::vector<FieldInfo>& GetFieldInfo() const { return fields_; }
  // The object behind field number index when that is a nested struct, else nullptr.
  const TilingDef* Nested(size_t index) const;
  const char* GetTilingClassName() const { return class_name_; }
  size_t GetDataSize() const { return data_size_; }
  // Moves the fields to memory that somebody else owns; values so far are lost.
  void SetDataPtr(void* data);

 protected:
  size_t AddField(const char* dtype, const char* name, size_t elementSize, size_t count);
  size_t AddStruct(const char* name, TilingDef* nested);
  void Finish(const char* className, bool allocate);
  uint8_t* data_ptr_ = nullptr;

 private:
  void Align(size_t alignment) {
    data_size_ = (data_size_ + alignment - 1) / alignment * alignment;
  }

  std::vector<FieldInfo> fields_;
  std::vector<std::pair<TilingDef*, size_t>> nested_;
  std::shared_ptr<uint64_t[]> own_;
  size_t data_size_ = 0;
  const char* class_name_ = "";
};

using TilingDataConstructor = std::shared_ptr<TilingDef> (*)();

class CTilingDataClassFactory {
 public:
  static CTilingDataClassFactory& GetInstance();
  void RegisterTilingData(const char* opType, TilingDataConstructor constructor);
  const std::vector<std::pair<ge::AscendString, TilingDataConstructor>>& All() const {
    return constructors_;
  }
  // nullptr for an operator without a registered class.
  std::shared_ptr<TilingDef> CreateTilingDataInstance(const char* opType) const;

 private:
  std::vector<std::pair<ge::AscendString, TilingDataConstructor>> constructors_;
};

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(className)           \
  class className : public ::optiling::TilingDef { \
   public:                                         \
    className() { Finish(#className, true); }      \
    explicit className(void* data) {               \
      Finish(#className, false);                   \
      if (data != nullptr) SetDataPtr(data);       \
    }

#define TILING_DATA_FIELD_DEF(type, field)                                                         \
 public:                                                                                           \
  void set_##field(type value) { std::memcpy(data_ptr_ + field##_offset_, &value, sizeof(type)); } \
  type get_##field() const {                                                                       \
    type value;                                                                                    \
    std::memcpy(&value, data_ptr_ + field##_offset_, sizeof(type));                                \
    return value;                                                                                  \
  }                                                                                                \
                                                                                                   \
 private:                                                                                          \
  size_t field##_offset_ = AddField(#type, #field, sizeof(type), 1);

#define TILING_DATA_FIELD_DEF_ARR(type, size, field)                                   \
 public:                                                                               \
  void set_##field(const type* values) {                                               \
    std::memmove(data_ptr_ + field##_offset_, values, (size) * sizeof(type));          \
  }                                                                                    \
  type* get_##field() { return reinterpret_cast<type*>(data_ptr_ + field##_offset_); } \
                                                                                       \
 private:                                                                              \
  size_t field##_offset_ = AddField(#type, #field, sizeof(type), size);

#define TILING_DATA_FIELD_DEF_STRUCT(type, field) \
 public:                                          \
  type field{nullptr};                            \
                                                  \
 private:                                         \
  size_t field##_offset_ = AddStruct(#field, &field);

#define END_TILING_DATA_DEF \
  }                         \
  ;

#define REGISTER_TILING_DATA_CLASS(opType, className)                                              \
  namespace {                                                                                      \
  [[maybe_unused]] const int g_tilingdata_##opType##className = [] {                               \
    ::optiling::CTilingDataClassFactory::GetInstance().RegisterTilingData(                         \
        #opType,                                                                                   \
        []() -> std::shared_ptr<::optiling::TilingDef> { return std::make_shared<className>(); }); \
    return 0;                                                                                      \
  }();                                                                                             \
  }
