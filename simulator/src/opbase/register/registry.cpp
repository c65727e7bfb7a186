// SPDX-License-Identifier: Apache-2.0
// The tables of registered operators.
#include "opbase/register/registry.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <deque>

#include "host/fork.h"
#include "host/lock.h"
#include "register/op_def_factory.h"

namespace aclsim {
namespace {

using TablesMutex = Mutex<6, "registered operators">;

struct Tables {
  TablesMutex mutex;
  std::deque<std::map<std::string, std::unique_ptr<gert::OpImplEntry>>> packages{1};
  std::map<std::string, PackageId> packageOf;  // by folder
};

// A library registers its operators once, when it is loaded: a forked child keeps them.
class LockedTables {
 public:
  LockedTables() : tables_(All()), lock_(tables_.mutex) {}
  Tables* operator->() const { return &tables_; }

 private:
  // Never destroyed: operator libraries register before main and are used until exit.
  static Tables& All() {
    static Tables* tables = new Tables;
    return *tables;
  }

  const HoldFork hold_;
  Tables& tables_;
  const std::lock_guard<TablesMutex> lock_;
};

thread_local PackageId currentPackage = 0;

gert::OpImplEntry* EntryOf(const char* type) {
  const LockedTables tables;
  std::unique_ptr<gert::OpImplEntry>& entry = tables->packages[currentPackage][type];
  if (entry == nullptr) {
    entry = std::make_unique<gert::OpImplEntry>();
    entry->type = type;
  }
  return entry.get();
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void Override(std::vector<ops::ParamRecord>& params, const std::vector<ops::OpParamDef>& own) {
  for (const ops::OpParamDef& param : own) {
    const ops::ParamRecord& record = param.Record();
    auto found = std::find_if(params.begin(), params.end(),
                              [&](const ops::ParamRecord& p) { return p.name == record.name; });
    if (found == params.end()) {
      params.push_back(record);
      continue;
    }
    found->type = record.type;
    if (!record.dataTypes.empty()) {
      found->dataTypes = record.dataTypes;
      found->dataTypeList = record.dataTypeList;
    }
    if (record.follow.GetLength() != 0) {
      found->follow = record.follow;
      found->followType = record.followType;
    }
  }
}

// A parameter that follows another one has that one's types.
void ResolveFollow(ResolvedOp* op) {
  const auto follow = [op](ops::ParamRecord& param) {
    if (param.follow.GetLength() == 0 || !param.dataTypes.empty()) return;
    for (const auto* params : {&op->inputs, &op->outputs}) {
      for (const ops::ParamRecord& target : *params) {
        if (target.name == param.follow) {
          param.dataTypes = target.dataTypes;
          param.dataTypeList = target.dataTypeList;
        }
      }
    }
  };
  for (ops::ParamRecord& param : op->inputs) follow(param);
  for (ops::ParamRecord& param : op->outputs) follow(param);
}

std::vector<std::string> SocAliases(const std::string& soc) {
  if (soc == "ascend950") return {"ascend950", "ascend910_95"};
  if (soc == "ascend910_95") return {"ascend910_95", "ascend950"};
  return {soc};
}

}  // namespace

PackageId PackageOf(const std::string& root) {
  const LockedTables tables;
  const auto [known, added] = tables->packageOf.try_emplace(root, tables->packages.size());
  if (added) tables->packages.emplace_back();
  return known->second;
}

PackageScope::PackageScope(PackageId package) : previous_(currentPackage) {
  currentPackage = package;
}
PackageScope::~PackageScope() { currentPackage = previous_; }

gert::OpImplEntry* FindOp(PackageId package, const std::string& type) {
  const LockedTables tables;
  if (package >= tables->packages.size()) return nullptr;
  const auto found = tables->packages[package].find(type);
  return found == tables->packages[package].end() ? nullptr : found->second.get();
}

std::vector<const gert::OpImplEntry*> AllOps() {
  const LockedTables tables;
  std::vector<const gert::OpImplEntry*> entries;
  for (const auto& [type, entry] : tables->packages[0]) entries.push_back(entry.get());
  return entries;
}

bool ResolveOp(const ops::OpDef& def, const std::string& socShortName, ResolvedOp* resolved,
               std::string* why) {
  if (!def.Mc2().Groups().empty()) {
    *why = std::string("its definition has MC2().HcclGroup(\"") +
           def.Mc2().Groups().front().GetString() + "\"), and the simulator has no HCCL in kernels";
    return false;
  }
  const std::map<ge::AscendString, ops::OpAICoreConfig>& configs = def.AiCore().Configs();
  const ops::OpAICoreConfig* config = nullptr;
  for (const std::string& soc : SocAliases(Lower(socShortName))) {
    const auto found = configs.find(soc.c_str());
    if (found != configs.end()) config = &found->second;
  }
  if (config == nullptr) {
    std::string names;
    for (const auto& [name, ignored] : configs) {
      names += (names.empty() ? "" : ", ") + std::string(name.GetString());
    }
    *why = "its definition has no AddConfig for " + Lower(socShortName) + ", only for " +
           (names.empty() ? "none" : names);
    return false;
  }
  resolved->inputs.clear();
  resolved->outputs.clear();
  for (const ops::OpParamDef& param : def.Inputs()) resolved->inputs.push_back(param.Record());
  for (const ops::OpParamDef& param : def.Outputs()) resolved->outputs.push_back(param.Record());
  Override(resolved->inputs, config->Inputs());
  Override(resolved->outputs, config->Outputs());
  ResolveFollow(resolved);
  return true;
}

int MatchDataTypes(const ResolvedOp& op, const std::vector<ge::DataType>& inputs,
                   const std::vector<ge::DataType>& outputs, std::vector<ge::DataType>* types) {
  std::vector<std::pair<const ops::ParamRecord*, ge::DataType>> pairs;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    pairs.emplace_back(&op.inputs[i], i < inputs.size() ? inputs[i] : ge::DT_UNDEFINED);
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    pairs.emplace_back(&op.outputs[i], i < outputs.size() ? outputs[i] : ge::DT_UNDEFINED);
  }
  size_t columns = 1;
  for (const auto& [param, type] : pairs) {
    if (!param->dataTypeList) columns = std::max(columns, param->dataTypes.size());
  }
  for (size_t column = 0; column < columns; ++column) {
    types->clear();
    for (const auto& [param, type] : pairs) {
      const std::vector<ge::DataType>& allowed = param->dataTypes;
      ge::DataType fit = ge::DT_UNDEFINED;
      if (param->dataTypeList) {
        const bool listed = std::find(allowed.begin(), allowed.end(), type) != allowed.end();
        fit = listed ? type : (type == ge::DT_UNDEFINED && !allowed.empty() ? allowed[0] : fit);
      } else if (!allowed.empty()) {
        const ge::DataType own = allowed[std::min(column, allowed.size() - 1)];
        if (type == own || type == ge::DT_UNDEFINED) fit = own;
      }
      if (fit == ge::DT_UNDEFINED) break;
      types->push_back(fit);
    }
    if (types->size() == pairs.size()) return static_cast<int>(column);
  }
  return -1;
}

}  // namespace aclsim

namespace gert {

OpImplRegisterV2::OpImplRegisterV2(const ge::char_t* opType) : entry_(aclsim::EntryOf(opType)) {}

OpImplRegisterV2& OpImplRegisterV2::InferShape(InferShapeKernelFunc func) {
  entry_->inferShape = func;
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::InferDataType(InferDataTypeKernelFunc func) {
  entry_->inferDataType = func;
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::InferOutDataTypeSameWithFirstInput() {
  entry_->outputTypeIsFirstInputs = true;
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::Tiling(TilingKernelFunc func, size_t maxTilingDataSize) {
  entry_->tiling = func;
  entry_->maxTilingDataSize = maxTilingDataSize;
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::TilingParse(TilingParseFunc func,
                                                CompileInfoCreatorFunc creator,
                                                CompileInfoDeleterFunc deleter) {
  entry_->tilingParse = func;
  entry_->createCompileInfo = creator;
  entry_->deleteCompileInfo = deleter;
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::InputsDataDependency(std::initializer_list<int32_t> inputs) {
  entry_->inferenceReads.assign(inputs.begin(), inputs.end());
  return TilingInputsDataDependency(inputs);
}
OpImplRegisterV2& OpImplRegisterV2::TilingInputsDataDependency(
    std::initializer_list<int32_t> inputs) {
  entry_->tilingReads.insert(entry_->tilingReads.end(), inputs.begin(), inputs.end());
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::TilingInputsDataDependency(
    std::initializer_list<int32_t> inputs, std::initializer_list<TilingPlacement>) {
  return TilingInputsDataDependency(inputs);
}
OpImplRegisterV2& OpImplRegisterV2::HostInputs(std::initializer_list<int32_t>) { return *this; }
OpImplRegisterV2& OpImplRegisterV2::OutputShapeDependOnCompute(
    std::initializer_list<int32_t> outputs) {
  entry_->shapesFromResult.assign(outputs.begin(), outputs.end());
  return *this;
}
// Graph mode only; unit tests ask for it.
OpImplRegisterV2& OpImplRegisterV2::InferShapeRange(InferShapeRangeKernelFunc func) {
  entry_->inferShapeRange = func;
  return *this;
}
// aclnn functions check their outputs themselves.
OpImplRegisterV2& OpImplRegisterV2::NullableOutputs(std::initializer_list<int32_t>) {
  return *this;
}
// A key of CANN's cache of compiled kernels; kernels here are found by their dtypes, only unit tests ask for it.
OpImplRegisterV2& OpImplRegisterV2::GenSimplifiedKey(GenSimplifiedKeyKernelFunc func) {
  entry_->genSimplifiedKey = func;
  return *this;
}

namespace {

template <typename T>
std::function<std::unique_ptr<uint8_t[]>()> Bytes(T value) {
  return [value] {
    std::unique_ptr<uint8_t[]> bytes(new uint8_t[sizeof(T)]);
    std::memcpy(bytes.get(), &value, sizeof(T));
    return bytes;
  };
}

template <typename T>
std::function<std::unique_ptr<uint8_t[]>()> ListBytes(const std::vector<T>& values) {
  return [values] {
    std::unique_ptr<uint8_t[]> bytes = ContinuousVector::Create<T>(values.size());
    auto* list = reinterpret_cast<ContinuousVector*>(bytes.get());
    (void)list->SetSize(values.size());
    std::copy(values.begin(), values.end(), static_cast<T*>(list->MutableData()));
    return bytes;
  };
}

}  // namespace

OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name) {
  entry_->privateAttrs.push_back({name, nullptr});
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, int64_t value) {
  entry_->privateAttrs.push_back({name, Bytes(value)});
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, const ge::char_t* value) {
  const std::string text = value;
  entry_->privateAttrs.push_back({name, [text] {
                                    std::unique_ptr<uint8_t[]> bytes(new uint8_t[text.size() + 1]);
                                    std::memcpy(bytes.get(), text.c_str(), text.size() + 1);
                                    return bytes;
                                  }});
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, ge::float32_t value) {
  entry_->privateAttrs.push_back({name, Bytes(value)});
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name, bool value) {
  entry_->privateAttrs.push_back({name, Bytes(value)});
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name,
                                                const std::vector<int64_t>& value) {
  entry_->privateAttrs.push_back({name, ListBytes(value)});
  return *this;
}
OpImplRegisterV2& OpImplRegisterV2::PrivateAttr(const ge::char_t* name,
                                                const std::vector<ge::float32_t>& value) {
  entry_->privateAttrs.push_back({name, ListBytes(value)});
  return *this;
}

}  // namespace gert

namespace ops {

int OpDefFactory::OpDefRegister(const char* name, Creator creator) {
  gert::OpImplEntry* entry = aclsim::EntryOf(name);
  entry->def = creator(name);
  OpDef& def = *entry->def;
  // IMPL_OP_* registrations win, whichever comes first.
  if (entry->tiling == nullptr) entry->tiling = def.AICore().GetTiling();
  if (entry->inferShape == nullptr) entry->inferShape = def.GetInferShape();
  if (entry->inferDataType == nullptr) entry->inferDataType = def.GetInferDataType();
  return 0;
}

}  // namespace ops
