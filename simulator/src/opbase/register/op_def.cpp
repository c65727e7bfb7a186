// SPDX-License-Identifier: Apache-2.0
// Setters of the operator definition language.
#include "register/op_def.h"

#include <utility>

namespace ops {
namespace {

template <typename T>
T& FindOrAdd(std::vector<T>& items, const char* name) {
  for (T& item : items) {
    if (item.Record().name == name) return item;
  }
  items.emplace_back(name);
  return items.back();
}

}  // namespace

OpParamDef& OpParamDef::ParamType(Option type) {
  record_.type = type;
  return *this;
}
OpParamDef& OpParamDef::DataType(std::vector<ge::DataType> types) {
  record_.dataTypes = std::move(types);
  record_.dataTypeList = false;
  return *this;
}
OpParamDef& OpParamDef::DataTypeList(std::vector<ge::DataType> types) {
  record_.dataTypes = std::move(types);
  record_.dataTypeList = true;
  return *this;
}
OpParamDef& OpParamDef::Format(std::vector<ge::Format> formats) {
  record_.formats = std::move(formats);
  record_.formatList = false;
  return *this;
}
OpParamDef& OpParamDef::FormatList(std::vector<ge::Format> formats) {
  record_.formats = std::move(formats);
  record_.formatList = true;
  return *this;
}
OpParamDef& OpParamDef::ValueDepend(Option valueDepend) {
  record_.valueDepend = valueDepend != IGNORE;
  return *this;
}
OpParamDef& OpParamDef::ValueDepend(Option valueDepend, DependScope) {
  return ValueDepend(valueDepend);
}
OpParamDef& OpParamDef::Scalar() {
  record_.scalar = true;
  return *this;
}
OpParamDef& OpParamDef::ScalarList() {
  record_.scalarList = true;
  return *this;
}
OpParamDef& OpParamDef::AutoContiguous() {
  record_.autoContiguous = true;
  return *this;
}
OpParamDef& OpParamDef::Follow(const char* name) { return Follow(name, FollowType::ALL); }
OpParamDef& OpParamDef::Follow(const char* name, FollowType type) {
  record_.follow = name;
  record_.followType = type;
  return *this;
}
OpParamDef& OpParamDef::InitValue(uint64_t value) {
  return InitValue(ScalarVar(ScalarType::UINT64, value));
}
OpParamDef& OpParamDef::InitValue(const ScalarVar& value) {
  return InitValue(std::vector<ScalarVar>{value});
}
OpParamDef& OpParamDef::InitValue(const std::vector<ScalarVar>& value) {
  record_.initValues = value;
  return *this;
}
OpParamDef& OpParamDef::OutputShapeDependOnCompute() {
  record_.shapeFromResult = true;
  return *this;
}
// All that follows matters to CANN's binary selection and code generators only.
OpParamDef& OpParamDef::DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
OpParamDef& OpParamDef::FormatForBinQuery(std::vector<ge::Format>) { return *this; }
OpParamDef& OpParamDef::UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
OpParamDef& OpParamDef::IgnoreContiguous() { return *this; }
OpParamDef& OpParamDef::To(ge::DataType) { return *this; }
OpParamDef& OpParamDef::To(const char*) { return *this; }
OpParamDef& OpParamDef::Version(uint32_t) { return *this; }
OpParamDef& OpParamDef::Comment(const char*) { return *this; }

OpAttrDef& OpAttrDef::AttrType(Option type) {
  record_.type = type;
  return *this;
}
OpAttrDef& OpAttrDef::Bool() {
  record_.kind = AttrKind::kBool;
  return *this;
}
OpAttrDef& OpAttrDef::Bool(bool value) {
  record_.intValue = value;
  record_.hasDefault = true;
  return Bool();
}
OpAttrDef& OpAttrDef::Float() {
  record_.kind = AttrKind::kFloat;
  return *this;
}
OpAttrDef& OpAttrDef::Float(float value) {
  record_.floatValue = value;
  record_.hasDefault = true;
  return Float();
}
OpAttrDef& OpAttrDef::Int() {
  record_.kind = AttrKind::kInt;
  return *this;
}
OpAttrDef& OpAttrDef::Int(int64_t value) {
  record_.intValue = value;
  record_.hasDefault = true;
  return Int();
}
OpAttrDef& OpAttrDef::String() {
  record_.kind = AttrKind::kString;
  return *this;
}
OpAttrDef& OpAttrDef::String(const char* value) {
  record_.stringValue = value;
  record_.hasDefault = true;
  return String();
}
OpAttrDef& OpAttrDef::ListBool() {
  record_.kind = AttrKind::kListBool;
  return *this;
}
OpAttrDef& OpAttrDef::ListBool(std::vector<bool> value) {
  record_.listInt.assign(value.begin(), value.end());
  record_.hasDefault = true;
  return ListBool();
}
OpAttrDef& OpAttrDef::ListFloat() {
  record_.kind = AttrKind::kListFloat;
  return *this;
}
OpAttrDef& OpAttrDef::ListFloat(std::vector<float> value) {
  record_.listFloat = std::move(value);
  record_.hasDefault = true;
  return ListFloat();
}
OpAttrDef& OpAttrDef::ListInt() {
  record_.kind = AttrKind::kListInt;
  return *this;
}
OpAttrDef& OpAttrDef::ListInt(std::vector<int64_t> value) {
  record_.listInt = std::move(value);
  record_.hasDefault = true;
  return ListInt();
}
OpAttrDef& OpAttrDef::ListListInt() {
  record_.kind = AttrKind::kListListInt;
  return *this;
}
OpAttrDef& OpAttrDef::ListListInt(std::vector<std::vector<int64_t>> value) {
  record_.listListInt = std::move(value);
  record_.hasDefault = true;
  return ListListInt();
}
OpAttrDef& OpAttrDef::Version(uint32_t) { return *this; }
OpAttrDef& OpAttrDef::Comment(const char*) { return *this; }

OpParamDef& OpAICoreConfig::Input(const char* name) { return FindOrAdd(inputs_, name); }
OpParamDef& OpAICoreConfig::Output(const char* name) { return FindOrAdd(outputs_, name); }
OpAICoreConfig& OpAICoreConfig::SetFlag(const char* key, bool flag) {
  return ExtendCfgInfo(key, flag ? "true" : "false");
}
OpAICoreConfig& OpAICoreConfig::DynamicCompileStaticFlag(bool flag) {
  return SetFlag("dynamicCompileStatic.flag", flag);
}
OpAICoreConfig& OpAICoreConfig::DynamicFormatFlag(bool flag) {
  return SetFlag("dynamicFormat.flag", flag);
}
OpAICoreConfig& OpAICoreConfig::DynamicRankSupportFlag(bool flag) {
  return SetFlag("dynamicRankSupport.flag", flag);
}
OpAICoreConfig& OpAICoreConfig::DynamicShapeSupportFlag(bool flag) {
  return SetFlag("dynamicShapeSupport.flag", flag);
}
OpAICoreConfig& OpAICoreConfig::NeedCheckSupportFlag(bool flag) {
  return SetFlag("needCheckSupport.flag", flag);
}
OpAICoreConfig& OpAICoreConfig::PrecisionReduceFlag(bool flag) {
  return SetFlag("precision_reduce.flag", flag);
}
OpAICoreConfig& OpAICoreConfig::ExtendCfgInfo(const char* key, const char* value) {
  config_[key] = value;
  return *this;
}

OpAICoreDef& OpAICoreDef::SetTiling(gert::OpImplRegisterV2::TilingKernelFunc func) {
  tiling_ = func;
  return *this;
}
OpAICoreDef& OpAICoreDef::SetCheckSupport(optiling::OP_CHECK_FUNC func) {
  check_support_ = func;
  return *this;
}
OpAICoreDef& OpAICoreDef::SetOpSelectFormat(optiling::OP_CHECK_FUNC) { return *this; }
OpAICoreDef& OpAICoreDef::SetOpSupportInfo(optiling::OP_CHECK_FUNC) { return *this; }
OpAICoreDef& OpAICoreDef::SetOpSpecInfo(optiling::OP_CHECK_FUNC) { return *this; }
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc) {
  configs_[soc] = OpAICoreConfig(soc);
  return *this;
}
OpAICoreDef& OpAICoreDef::AddConfig(const char* soc, OpAICoreConfig& config) {
  configs_[soc] = config;
  return *this;
}

OpParamDef& OpDef::Input(const char* name) { return FindOrAdd(inputs_, name); }
OpParamDef& OpDef::Output(const char* name) { return FindOrAdd(outputs_, name); }
OpAttrDef& OpDef::Attr(const char* name) { return FindOrAdd(attrs_, name); }
OpDef& OpDef::SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc func) {
  infer_shape_ = func;
  return *this;
}
OpDef& OpDef::SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc func) {
  infer_data_type_ = func;
  return *this;
}
OpDef& OpDef::SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) {
  return *this;
}
OpDef& OpDef::Comment(CommentSection, const char*) { return *this; }
OpDef& OpDef::FormatMatchMode(FormatCheckOption) { return *this; }
OpDef& OpDef::EnableFallBack() { return *this; }

OpMC2Def& OpMC2Def::HcclGroup(const char* name) {
  groups_.emplace_back(name);
  return *this;
}
OpMC2Def& OpMC2Def::HcclGroup(std::vector<const char*> names) {
  groups_.insert(groups_.end(), names.begin(), names.end());
  return *this;
}
void OpMC2Def::HcclServerType(enum HcclServerType, const char*) {}

}  // namespace ops
