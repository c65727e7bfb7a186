// SPDX-License-Identifier: Apache-2.0
// Sizes and names of data types and formats, and the string type.
#include <cstring>
#include <string_view>

#include "graph/ascend_string.h"
#include "graph/types.h"
#include "graph/utils/type_utils.h"

namespace ge {
namespace {

struct TypeRow {
  DataType type;
  const char* name;
  int size;
};
constexpr TypeRow kTypes[] = {
    {DT_FLOAT, "DT_FLOAT", 4},
    {DT_FLOAT16, "DT_FLOAT16", 2},
    {DT_INT8, "DT_INT8", 1},
    {DT_INT32, "DT_INT32", 4},
    {DT_UINT8, "DT_UINT8", 1},
    {DT_INT16, "DT_INT16", 2},
    {DT_UINT16, "DT_UINT16", 2},
    {DT_UINT32, "DT_UINT32", 4},
    {DT_INT64, "DT_INT64", 8},
    {DT_UINT64, "DT_UINT64", 8},
    {DT_DOUBLE, "DT_DOUBLE", 8},
    {DT_BOOL, "DT_BOOL", 1},
    {DT_STRING, "DT_STRING", -1},
    {DT_DUAL_SUB_INT8, "DT_DUAL_SUB_INT8", 1},
    {DT_DUAL_SUB_UINT8, "DT_DUAL_SUB_UINT8", 1},
    {DT_COMPLEX64, "DT_COMPLEX64", 8},
    {DT_COMPLEX128, "DT_COMPLEX128", 16},
    {DT_QINT8, "DT_QINT8", 1},
    {DT_QINT16, "DT_QINT16", 2},
    {DT_QINT32, "DT_QINT32", 4},
    {DT_QUINT8, "DT_QUINT8", 1},
    {DT_QUINT16, "DT_QUINT16", 2},
    {DT_RESOURCE, "DT_RESOURCE", 8},
    {DT_STRING_REF, "DT_STRING_REF", -1},
    {DT_DUAL, "DT_DUAL", 5},
    {DT_VARIANT, "DT_VARIANT", 8},
    {DT_BF16, "DT_BF16", 2},
    {DT_UNDEFINED, "DT_UNDEFINED", -1},
    {DT_INT4, "DT_INT4", kDataTypeSizeBitOffset + 4},
    {DT_UINT1, "DT_UINT1", kDataTypeSizeBitOffset + 1},
    {DT_INT2, "DT_INT2", kDataTypeSizeBitOffset + 2},
    {DT_UINT2, "DT_UINT2", kDataTypeSizeBitOffset + 2},
    {DT_COMPLEX32, "DT_COMPLEX32", 4},
    {DT_HIFLOAT8, "DT_HIFLOAT8", 1},
    {DT_FLOAT8_E5M2, "DT_FLOAT8_E5M2", 1},
    {DT_FLOAT8_E4M3FN, "DT_FLOAT8_E4M3FN", 1},
    {DT_FLOAT8_E8M0, "DT_FLOAT8_E8M0", 1},
    {DT_FLOAT6_E3M2, "DT_FLOAT6_E3M2", kDataTypeSizeBitOffset + 6},
    {DT_FLOAT6_E2M3, "DT_FLOAT6_E2M3", kDataTypeSizeBitOffset + 6},
    {DT_FLOAT4_E2M1, "DT_FLOAT4_E2M1", kDataTypeSizeBitOffset + 4},
    {DT_FLOAT4_E1M2, "DT_FLOAT4_E1M2", kDataTypeSizeBitOffset + 4},
    {DT_HIFLOAT4, "DT_HIFLOAT4", kDataTypeSizeBitOffset + 4},
};

const TypeRow* FindType(DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

struct FormatRow {
  Format format;
  const char* name;
};
constexpr FormatRow kFormats[] = {
    {FORMAT_NCHW, "NCHW"},
    {FORMAT_NHWC, "NHWC"},
    {FORMAT_ND, "ND"},
    {FORMAT_NC1HWC0, "NC1HWC0"},
    {FORMAT_FRACTAL_Z, "FRACTAL_Z"},
    {FORMAT_NC1HWC0_C04, "NC1HWC0_C04"},
    {FORMAT_FRACTAL_Z_C04, "FRACTAL_Z_C04"},
    {FORMAT_CHWN, "CHWN"},
    {FORMAT_HWCN, "HWCN"},
    {FORMAT_C1HWNCoC0, "C1HWNCoC0"},
    {FORMAT_MD, "MD"},
    {FORMAT_NDHWC, "NDHWC"},
    {FORMAT_FRACTAL_ZZ, "FRACTAL_ZZ"},
    {FORMAT_FRACTAL_NZ, "FRACTAL_NZ"},
    {FORMAT_NCDHW, "NCDHW"},
    {FORMAT_DHWCN, "DHWCN"},
    {FORMAT_NDC1HWC0, "NDC1HWC0"},
    {FORMAT_FRACTAL_Z_3D, "FRACTAL_Z_3D"},
    {FORMAT_CN, "CN"},
    {FORMAT_NC, "NC"},
    {FORMAT_DHWNC, "DHWNC"},
    {FORMAT_FRACTAL_Z_3D_TRANSPOSE, "FRACTAL_Z_3D_TRANSPOSE"},
    {FORMAT_FRACTAL_ZN_LSTM, "FRACTAL_ZN_LSTM"},
    {FORMAT_FRACTAL_Z_G, "FRACTAL_Z_G"},
    {FORMAT_RESERVED, "RESERVED"},
    {FORMAT_ALL, "ALL"},
    {FORMAT_NULL, "NULL"},
    {FORMAT_ND_RNN_BIAS, "ND_RNN_BIAS"},
    {FORMAT_FRACTAL_ZN_RNN, "FRACTAL_ZN_RNN"},
    {FORMAT_NCL, "NCL"},
    {FORMAT_FRACTAL_Z_WINO, "FRACTAL_Z_WINO"},
    {FORMAT_C1HWC0, "C1HWC0"},
    {FORMAT_FRACTAL_NZ_C0_16, "FRACTAL_NZ_C0_16"},
    {FORMAT_FRACTAL_NZ_C0_32, "FRACTAL_NZ_C0_32"},
    {FORMAT_FRACTAL_NZ_C0_2, "FRACTAL_NZ_C0_2"},
    {FORMAT_FRACTAL_NZ_C0_4, "FRACTAL_NZ_C0_4"},
    {FORMAT_FRACTAL_NZ_C0_8, "FRACTAL_NZ_C0_8"},
};

}  // namespace

int GetSizeByDataType(DataType dataType) {
  const TypeRow* row = FindType(dataType);
  return row == nullptr ? -1 : row->size;
}

int64_t GetSizeInBytes(int64_t count, DataType dataType) {
  const int size = GetSizeByDataType(dataType);
  if (size < 0 || count < 0) return -1;
  int64_t total = 0;
  if (size < kDataTypeSizeBitOffset) {
    return __builtin_mul_overflow(count, static_cast<int64_t>(size), &total) ? -1 : total;
  }
  if (__builtin_mul_overflow(count, static_cast<int64_t>(size - kDataTypeSizeBitOffset), &total)) {
    return -1;
  }
  return total / 8 + (total % 8 != 0 ? 1 : 0);
}

const char_t* GetFormatName(Format format) {
  const Format primary = static_cast<Format>(GetPrimaryFormat(format));
  for (const FormatRow& row : kFormats) {
    if (row.format == primary) return row.name;
  }
  return "UNDEFINED";
}

AscendString TypeUtils::DataTypeToAscendString(const DataType& dataType) {
  const TypeRow* row = FindType(dataType);
  return row == nullptr ? "DT_UNDEFINED" : row->name;
}

DataType TypeUtils::AscendStringToDataType(const AscendString& text) {
  for (const TypeRow& row : kTypes) {
    if (text == row.name) return row.type;
  }
  return DT_UNDEFINED;
}

bool TypeUtils::GetDataTypeLength(DataType dataType, uint32_t& length) {
  const int size = GetSizeByDataType(dataType);
  if (size <= 0 || size >= kDataTypeSizeBitOffset) return false;
  length = static_cast<uint32_t>(size);
  return true;
}

AscendString::AscendString(const char_t* name)
    : AscendString(name, name == nullptr ? 0 : std::strlen(name)) {}

AscendString::AscendString(const char_t* name, size_t length) {
  if (name == nullptr) return;
  text_ = std::shared_ptr<char_t[]>(new char_t[length + 1]);
  std::memcpy(text_.get(), name, length);
  text_[static_cast<std::ptrdiff_t>(length)] = '\0';
  length_ = length;
}

size_t AscendString::Find(const AscendString& other) const {
  return std::string_view(GetString(), length_)
      .find(std::string_view(other.GetString(), other.length_));
}

size_t AscendString::Hash() const {
  return std::hash<std::string_view>()(std::string_view(GetString(), length_));
}

int AscendString::Compare(const AscendString& other) const {
  return std::string_view(GetString(), length_)
      .compare(std::string_view(other.GetString(), other.length_));
}

}  // namespace ge
