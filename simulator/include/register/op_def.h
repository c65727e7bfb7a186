// SPDX-License-Identifier: Apache-2.0
// The operator definition language: OpDef with inputs, outputs, attributes and AI core
// configurations per SoC.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/operator.h"
#include "graph/operator_reg.h"
#include "graph/types.h"
#include "register/op_impl_registry.h"

#define FUNC_CHECK_SUPPORTED "check_supported"
#define FUNC_OP_SELECT_FORMAT "op_select_format"
#define FUNC_GET_OP_SUPPORT_INFO "get_op_support_info"
#define FUNC_GET_SPECIFIC_INFO "get_op_specific_info"

namespace optiling {
using OP_CHECK_FUNC = ge::graphStatus (*)(const ge::Operator& op, ge::AscendString& result);

// Graph mode asks these functions whether it may choose the operator; aclnn functions never do.
class OpCheckFuncHelper {
 public:
  OpCheckFuncHelper(const ge::AscendString&, const ge::AscendString&, OP_CHECK_FUNC) {}
};
}  // namespace optiling

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class ScalarType : uint32_t {
  UINT64 = 0,
  INT64 = 1,
  UINT32 = 2,
  INT32 = 3,
  UINT16 = 4,
  INT16 = 5,
  UINT8 = 6,
  INT8 = 7,
  FLOAT32 = 8,
  FLOAT16 = 9,
  INVALID_DTYPE = static_cast<uint32_t>(-1),
};
union ScalarNum {
  uint64_t value_u64;
  int64_t value_i64;
  float value_f32;
  ScalarNum() : value_u64(0) {}
  explicit ScalarNum(uint64_t value) : value_u64(value) {}
  explicit ScalarNum(int64_t value) : value_i64(value) {}
  explicit ScalarNum(float value) : value_f32(value) {}
};
// A number of a type, e.g. {ScalarType::INT16, 1}.
struct ScalarVar {
  ScalarType scalar_type = ScalarType::INVALID_DTYPE;
  ScalarNum scalar_num;

  ScalarVar() = default;
  template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  ScalarVar(ScalarType type, T num) : scalar_type(type) {
    if (type == ScalarType::FLOAT32 || type == ScalarType::FLOAT16) {
      scalar_num = ScalarNum(static_cast<float>(num));
    } else if (std::is_signed<T>::value) {
      scalar_num = ScalarNum(static_cast<int64_t>(num));
    } else {
      scalar_num = ScalarNum(static_cast<uint64_t>(num));
    }
  }
  bool operator==(const ScalarVar& other) const {
    return scalar_type == other.scalar_type && scalar_num.value_u64 == other.scalar_num.value_u64;
  }
};

enum class CommentSection : uint32_t {
  CATEGORY = 0,
  BRIEF = 1,
  CONSTRAINTS = 2,
  RESTRICTIONS = 3,
  SEE = 4,
  THIRDPARTYFWKCOMPAT = 5,
  SECTION_MAX
};

// A definition says this of one parameter or attribute; the simulator reads it, definitions write
// it by the classes below.
struct ParamRecord {
  ge::AscendString name;
  Option type = REQUIRED;
  std::vector<ge::DataType> dataTypes;  // column i of every parameter belongs together
  bool dataTypeList = false;            // DataTypeList: any entry combines with any other parameter
  std::vector<ge::Format> formats;
  bool formatList = false;
  ge::AscendString follow;
  FollowType followType = FollowType::ALL;
  bool autoContiguous = false;
  bool valueDepend = false;
  bool scalar = false;
  bool scalarList = false;
  std::vector<ScalarVar>
      initValues;  // what an output holds before the kernel: for all dtypes, or one each
  bool shapeFromResult = false;  // of an output: OutputShapeDependOnCompute
};

enum class AttrKind { kBool, kFloat, kInt, kString, kListBool, kListFloat, kListInt, kListListInt };
struct AttrRecord {
  ge::AscendString name;
  Option type = OPTIONAL;
  AttrKind kind = AttrKind::kInt;
  bool hasDefault = false;
  int64_t intValue = 0;  // also bool
  double floatValue = 0;
  ge::AscendString stringValue;
  std::vector<int64_t> listInt;  // also list of bool
  std::vector<float> listFloat;
  std::vector<std::vector<int64_t>> listListInt;
};

class OpParamDef {
 public:
  explicit OpParamDef(const char* name) { record_.name = name; }

  OpParamDef& ParamType(Option type);
  OpParamDef& DataType(std::vector<ge::DataType> types);
  OpParamDef& DataTypeList(std::vector<ge::DataType> types);
  OpParamDef& Format(std::vector<ge::Format> formats);
  OpParamDef& FormatList(std::vector<ge::Format> formats);
  OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType> types);
  OpParamDef& FormatForBinQuery(std::vector<ge::Format> formats);
  OpParamDef& UnknownShapeFormat(std::vector<ge::Format> formats);
  OpParamDef& ValueDepend(Option valueDepend);
  OpParamDef& ValueDepend(Option valueDepend, DependScope scope);
  OpParamDef& IgnoreContiguous();
  OpParamDef& AutoContiguous();
  OpParamDef& Scalar();
  OpParamDef& ScalarList();
  OpParamDef& To(ge::DataType type);
  OpParamDef& To(const char* name);
  OpParamDef& Version(uint32_t version);
  OpParamDef& InitValue(uint64_t value);
  OpParamDef& InitValue(const ScalarVar& value);
  OpParamDef& InitValue(const std::vector<ScalarVar>& value);
  OpParamDef& OutputShapeDependOnCompute();
  OpParamDef& Follow(const char* name);
  OpParamDef& Follow(const char* name, FollowType type);
  OpParamDef& Comment(const char* comment);

  const ParamRecord& Record() const { return record_; }

 private:
  ParamRecord record_;
};

class OpAttrDef {
 public:
  explicit OpAttrDef(const char* name) { record_.name = name; }

  OpAttrDef& AttrType(Option type);
  OpAttrDef& Bool();
  OpAttrDef& Bool(bool value);
  OpAttrDef& Float();
  OpAttrDef& Float(float value);
  OpAttrDef& Int();
  OpAttrDef& Int(int64_t value);
  OpAttrDef& String();
  OpAttrDef& String(const char* value);
  OpAttrDef& ListBool();
  OpAttrDef& ListBool(std::vector<bool> value);
  OpAttrDef& ListFloat();
  OpAttrDef& ListFloat(std::vector<float> value);
  OpAttrDef& ListInt();
  OpAttrDef& ListInt(std::vector<int64_t> value);
  OpAttrDef& ListListInt();
  OpAttrDef& ListListInt(std::vector<std::vector<int64_t>> value);
  OpAttrDef& Version(uint32_t version);
  OpAttrDef& Comment(const char* comment);

  const AttrRecord& Record() const { return record_; }

 private:
  AttrRecord record_;
};

// A SoC's own inputs and outputs; those that it does not name are the operator's.
class OpAICoreConfig {
 public:
  OpAICoreConfig() = default;
  explicit OpAICoreConfig(const char* soc) : soc_(soc) {}

  OpParamDef& Input(const char* name);
  OpParamDef& Output(const char* name);
  OpAICoreConfig& DynamicCompileStaticFlag(bool flag);
  OpAICoreConfig& DynamicFormatFlag(bool flag);
  OpAICoreConfig& DynamicRankSupportFlag(bool flag);
  OpAICoreConfig& DynamicShapeSupportFlag(bool flag);
  OpAICoreConfig& NeedCheckSupportFlag(bool flag);
  OpAICoreConfig& PrecisionReduceFlag(bool flag);
  OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value);

  const std::vector<OpParamDef>& Inputs() const { return inputs_; }
  const std::vector<OpParamDef>& Outputs() const { return outputs_; }
  const std::map<ge::AscendString, ge::AscendString>& Config() const { return config_; }

 private:
  OpAICoreConfig& SetFlag(const char* key, bool flag);

  ge::AscendString soc_;
  std::vector<OpParamDef> inputs_;
  std::vector<OpParamDef> outputs_;
  std::map<ge::AscendString, ge::AscendString> config_;
};

class OpAICoreDef {
 public:
  OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func);
  OpAICoreDef& SetCheckSupport(optiling::OP_CHECK_FUNC func);
  OpAICoreDef& SetOpSelectFormat(optiling::OP_CHECK_FUNC func);
  OpAICoreDef& SetOpSupportInfo(optiling::OP_CHECK_FUNC func);
  OpAICoreDef& SetOpSpecInfo(optiling::OP_CHECK_FUNC func);
  // soc: lower-case short name, "ascend910b". The config is copied.
  OpAICoreDef& AddConfig(const char* soc);
  OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig& config);
  gert::OpImplRegisterV2::TilingKernelFunc& GetTiling() { return tiling_; }
  optiling::OP_CHECK_FUNC& GetCheckSupport() { return check_support_; }

  const std::map<ge::AscendString, OpAICoreConfig>& Configs() const { return configs_; }

 private:
  gert::OpImplRegisterV2::TilingKernelFunc tiling_ = nullptr;
  optiling::OP_CHECK_FUNC check_support_ = nullptr;
  std::map<ge::AscendString, OpAICoreConfig> configs_;
};

enum class HcclServerType : uint32_t { AICPU = 0, AICORE = 1, CCU = 2, MAX };

// These attributes name groups of NPUs. The simulator has one NPU, so that an operator with groups
// can be described and not run.
class OpMC2Def {
 public:
  OpMC2Def& HcclGroup(const char* name);
  OpMC2Def& HcclGroup(std::vector<const char*> names);
  void HcclServerType(enum HcclServerType type, const char* soc = nullptr);

  const std::vector<ge::AscendString>& Groups() const { return groups_; }

 private:
  std::vector<ge::AscendString> groups_;
};

class OpDef {
 public:
  explicit OpDef(const char* type) : type_(type) {}

  // A repeated name refers to the parameter that already has it.
  OpParamDef& Input(const char* name);
  OpParamDef& Output(const char* name);
  OpAttrDef& Attr(const char* name);
  OpDef& Comment(CommentSection section, const char* comment);
  OpDef& SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func);
  OpDef& SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc func);
  OpDef& SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func);
  gert::OpImplRegisterV2::InferShapeKernelFunc& GetInferShape() { return infer_shape_; }
  gert::OpImplRegisterV2::InferDataTypeKernelFunc& GetInferDataType() { return infer_data_type_; }
  OpAICoreDef& AICore() { return ai_core_; }
  OpMC2Def& MC2() { return mc2_; }
  OpDef& FormatMatchMode(FormatCheckOption option);
  OpDef& EnableFallBack();

  const ge::AscendString& Type() const { return type_; }
  const std::vector<OpParamDef>& Inputs() const { return inputs_; }
  const std::vector<OpParamDef>& Outputs() const { return outputs_; }
  const std::vector<OpAttrDef>& Attrs() const { return attrs_; }
  const OpAICoreDef& AiCore() const { return ai_core_; }
  const OpMC2Def& Mc2() const { return mc2_; }

 private:
  ge::AscendString type_;
  std::vector<OpParamDef> inputs_;
  std::vector<OpParamDef> outputs_;
  std::vector<OpAttrDef> attrs_;
  OpAICoreDef ai_core_;
  OpMC2Def mc2_;
  gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape_ = nullptr;
  gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_data_type_ = nullptr;
};

}  // namespace ops
