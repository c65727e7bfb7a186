// SPDX-License-Identifier: Apache-2.0
// Names of data types and formats.
#pragma once

#include <string>

#include "graph/ascend_string.h"
#include "graph/types.h"

namespace ge {

class TypeUtils {
 public:
  static std::string DataTypeToSerialString(DataType dataType) {
    return DataTypeToAscendString(dataType).GetString();
  }
  static std::string FormatToSerialString(Format format) { return GetFormatName(format); }
  // "DT_FLOAT16"; "DT_UNDEFINED" for a number without a name.
  static AscendString DataTypeToAscendString(const DataType& dataType);
  static DataType SerialStringToDataType(const std::string& text) {
    return AscendStringToDataType(text.c_str());
  }
  // DT_UNDEFINED for a name that no type has.
  static DataType AscendStringToDataType(const AscendString& text);
  // Bytes of one element; false, with the length untouched, for a type without a whole number of them.
  static bool GetDataTypeLength(DataType dataType, uint32_t& length);
  static AscendString FormatToAscendString(const Format& format) { return GetFormatName(format); }
};

}  // namespace ge
