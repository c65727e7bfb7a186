// SPDX-License-Identifier: Apache-2.0
// Sizes, classes and promotion of data types.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

#include "acl/acl_base.h"
#include "graph/types.h"
#include "opdev/common_types.h"

namespace op {

constexpr uint32_t kDataTypeSizeBitOffset = 1000;

inline bool CheckType(const DataType dtype, const std::initializer_list<DataType>& valid) {
  return std::find(valid.begin(), valid.end(), dtype) != valid.end();
}

// Bytes of an element, kDataTypeSizeBitOffset + bits for sub-byte types; 16 for a type without a
// size.
size_t TypeSize(DataType dataType);
// Bytes of size elements; ceil is accepted for CANN's sake, sub-byte types are always rounded up.
int64_t CalcShapeBytes(int64_t size, DataType dataType, bool ceil = false);

inline bool IsComplexType(const ge::DataType type) {
  return CheckType(type, {ge::DT_COMPLEX32, ge::DT_COMPLEX64, ge::DT_COMPLEX128});
}
inline bool IsFloatingType(const ge::DataType type) {
  return CheckType(
      type, {ge::DT_DOUBLE, ge::DT_FLOAT, ge::DT_BF16, ge::DT_FLOAT16, ge::DT_HIFLOAT8,
             ge::DT_FLOAT8_E5M2, ge::DT_FLOAT8_E4M3FN, ge::DT_FLOAT8_E8M0, ge::DT_FLOAT6_E3M2,
             ge::DT_FLOAT6_E2M3, ge::DT_FLOAT4_E2M1, ge::DT_FLOAT4_E1M2});
}
inline bool IsIntegralType(const ge::DataType type) {
  return CheckType(type, {ge::DT_INT8, ge::DT_INT16, ge::DT_INT32, ge::DT_INT64, ge::DT_UINT8,
                          ge::DT_UINT16, ge::DT_UINT32, ge::DT_UINT64});
}
inline bool IsIntegralType(const ge::DataType type, const bool includeBool) {
  return IsIntegralType(type) || (includeBool && type == ge::DT_BOOL);
}
inline bool IsRealNumberType(const DataType type) {
  return IsFloatingType(type) || IsIntegralType(type);
}
inline bool IsNumberType(const DataType type) {
  return IsRealNumberType(type) || CheckType(type, {ge::DT_COMPLEX64, ge::DT_COMPLEX128,
                                                    ge::DT_QINT8, ge::DT_QINT32, ge::DT_QUINT8});
}
inline bool IsBasicType(const DataType type) {
  return CheckType(
      type, {ge::DT_COMPLEX128, ge::DT_COMPLEX64, ge::DT_DOUBLE, ge::DT_FLOAT, ge::DT_FLOAT16,
             ge::DT_BF16, ge::DT_INT8, ge::DT_INT16, ge::DT_INT32, ge::DT_INT64, ge::DT_UINT8,
             ge::DT_UINT16, ge::DT_UINT32, ge::DT_UINT64, ge::DT_QINT8, ge::DT_QINT16,
             ge::DT_QINT32, ge::DT_QUINT8, ge::DT_QUINT16});
}

// Returns whether an out of type to may receive a result of type from: never complex to real, floating to
// integer, or anything but bool to bool.
inline bool CanCast(const ge::DataType from, const ge::DataType to) {
  if (IsComplexType(from) && !IsComplexType(to)) return false;
  if (IsFloatingType(from) && IsIntegralType(to)) return false;
  return from == ge::DT_BOOL || to != ge::DT_BOOL;
}

// The type that both convert to; DT_UNDEFINED when there is none (uint16, uint32 and uint64 only
// meet themselves and complex).
DataType PromoteType(DataType a, DataType b);

DataType ToDataType(const std::string& name);  // "DT_FLOAT16" -> DT_FLOAT16
constexpr DataType ToOpDataType(aclDataType type) {
  return type == ACL_DT_UNDEFINED ? DataType::DT_UNDEFINED : static_cast<DataType>(type);
}
// ACL_DT_UNDEFINED for types that the C interface does not have.
aclDataType ToAclDataType(DataType type);
ge::AscendString ToString(const std::initializer_list<DataType>& dataTypes);
inline ge::AscendString ToString(const char* text) { return ge::AscendString(text); }

}  // namespace op
