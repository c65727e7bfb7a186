// SPDX-License-Identifier: Apache-2.0
// Names of data types and formats.
#ifndef GRAPH_UTILS_TYPE_UTILS_H_
#define GRAPH_UTILS_TYPE_UTILS_H_

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
  static AscendString FormatToAscendString(const Format& format) { return GetFormatName(format); }
};

}  // namespace ge

#endif  // GRAPH_UTILS_TYPE_UTILS_H_
