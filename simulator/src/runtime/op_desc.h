// SPDX-License-Identifier: Apache-2.0
// A program says this of the tensors and attributes of a single operator.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "acl/acl_op.h"
#include "runtime/errors.h"

struct aclTensorDesc {
  static constexpr const char* kArgument = "desc";
  static constexpr const char* kNoun = "a description";
  static constexpr const char* kMaker = "aclCreateTensorDesc";

  aclDataType dataType = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  // As the tensor lies in memory; the same where nothing else was said.
  aclFormat storageFormat = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> storageDims;
  aclMemType place = ACL_MEMTYPE_DEVICE;
  std::string name;
  std::string dynamicInput;
  bool constant = false;
  std::vector<uint8_t> value;  // of a constant

  size_t Elements() const;
};

struct aclopAttr {
  static constexpr const char* kArgument = "attr";
  static constexpr const char* kNoun = "attributes";
  static constexpr const char* kMaker = "aclopCreateAttr";

  enum class Kind {
    kBool,
    kInt,
    kFloat,
    kString,
    kDataType,
    kListBool,
    kListInt,
    kListFloat,
    kListDataType,
    kListListInt
  };
  struct Value {
    Kind kind = Kind::kInt;
    int64_t number = 0;  // also bool and data type
    float real = 0;
    std::string text;
    std::vector<int64_t> numbers;  // also of bool and data types
    std::vector<float> reals;
    std::vector<std::vector<int64_t>> lists;
  };
  std::map<std::string, Value> values;
};

namespace aclsim {

// A copy of what the program made; an error for an unknown or destroyed one.
int32_t ReadTensorDesc(const Api& api, const aclTensorDesc* handle, aclTensorDesc* desc);
int32_t ReadOpAttr(const Api& api, const aclopAttr* handle, aclopAttr* attr);
int32_t SetTensorDims(const Api& api, aclTensorDesc* handle, const std::vector<int64_t>& dims);

}  // namespace aclsim
