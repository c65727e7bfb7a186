// SPDX-License-Identifier: Apache-2.0
// Runs tiling and inference functions on an operator call.
#include "opbase/register/op_call.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "findings/fault.h"
#include "findings/finding.h"
#include "host/crash.h"
#include "host/fork.h"
#include "host/format.h"
#include "host/lock.h"
#include "platform/platform_infos_def.h"
#include "register/tilingdata_base.h"
#include "runtime/options.h"
#include "runtime/runtime.h"
#include "soc/soc.h"

namespace aclsim {
namespace {

constexpr int32_t kSuccess = 0;
constexpr int32_t kInferShapeError = 561001;
constexpr int32_t kTilingError = 561002;
constexpr size_t kMaxWorkspaces = 16;
constexpr uint64_t kMostWorkspaceBytes = uint64_t{1} << 40;

using Blob = std::unique_ptr<uint8_t[]>;

// The operator whose code runs in this thread.
thread_local std::string userType;

template <typename T>
Blob ScalarBlob(T value) {
  Blob blob(new uint8_t[sizeof(T)]);
  std::memcpy(blob.get(), &value, sizeof(T));
  return blob;
}

Blob StringBlob(const std::string& text) {
  Blob blob(new uint8_t[text.size() + 1]);
  std::memcpy(blob.get(), text.c_str(), text.size() + 1);
  return blob;
}

template <typename T, typename U>
Blob ListBlob(const std::vector<U>& values) {
  Blob blob = gert::ContinuousVector::Create<T>(values.size());
  auto* list = reinterpret_cast<gert::ContinuousVector*>(blob.get());
  (void)list->SetSize(values.size());
  T* data = static_cast<T*>(list->MutableData());
  for (size_t i = 0; i < values.size(); ++i) data[i] = static_cast<T>(values[i]);
  return blob;
}

Blob ListListBlob(const std::vector<std::vector<int64_t>>& values) {
  size_t bytes = sizeof(gert::ContinuousVectorVector) + values.size() * sizeof(size_t);
  std::vector<size_t> offsets;
  for (const std::vector<int64_t>& inner : values) {
    offsets.push_back(bytes);
    bytes += sizeof(gert::ContinuousVector) + inner.size() * sizeof(int64_t);
  }
  Blob blob(new uint8_t[bytes]());
  auto* outer = reinterpret_cast<gert::ContinuousVectorVector*>(blob.get());
  outer->Init(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    outer->MutableOffsets()[i] = offsets[i];
    auto* inner = reinterpret_cast<gert::ContinuousVector*>(blob.get() + offsets[i]);
    inner->Init(values[i].size());
    (void)inner->SetSize(values[i].size());
    std::copy(values[i].begin(), values[i].end(), static_cast<int64_t*>(inner->MutableData()));
  }
  return blob;
}

}  // namespace

Blob UntypedBlob(const AttrArg& arg) {
  switch (arg.kind) {
    case AttrArg::Kind::kInt:
      return ScalarBlob<int64_t>(arg.intValue);
    case AttrArg::Kind::kFloat:
      if (arg.isDouble) return ScalarBlob<double>(arg.floatValue);
      return ScalarBlob<float>(static_cast<float>(arg.floatValue));
    case AttrArg::Kind::kBool:
      return ScalarBlob<bool>(arg.intValue != 0);
    case AttrArg::Kind::kString:
      return StringBlob(arg.text);
    case AttrArg::Kind::kListInt:
      return ListBlob<int64_t>(arg.listInt);
    case AttrArg::Kind::kListFloat:
      return ListBlob<float>(arg.listFloat);
    case AttrArg::Kind::kListBool:
      return ListBlob<bool>(arg.listInt);
    case AttrArg::Kind::kListListInt:
      return ListListBlob(arg.listListInt);
  }
  return nullptr;
}

namespace {

// The argument as the definition types it; nullptr when it is of another nature.
Blob TypedBlob(const AttrArg& arg, ops::AttrKind kind) {
  const bool integer = arg.kind == AttrArg::Kind::kInt || arg.kind == AttrArg::Kind::kBool;
  const bool number = integer || arg.kind == AttrArg::Kind::kFloat;
  const double value = integer ? static_cast<double>(arg.intValue) : arg.floatValue;
  switch (kind) {
    case ops::AttrKind::kBool:
      return integer ? ScalarBlob<bool>(arg.intValue != 0) : nullptr;
    case ops::AttrKind::kInt:
      return integer ? ScalarBlob<int64_t>(arg.intValue) : nullptr;
    case ops::AttrKind::kFloat:
      if (arg.isDouble) return ScalarBlob<double>(value);
      return number ? ScalarBlob<float>(static_cast<float>(value)) : nullptr;
    case ops::AttrKind::kString:
      return arg.kind == AttrArg::Kind::kString ? StringBlob(arg.text) : nullptr;
    case ops::AttrKind::kListInt:
      return arg.kind == AttrArg::Kind::kListInt ? ListBlob<int64_t>(arg.listInt) : nullptr;
    case ops::AttrKind::kListFloat:
      return arg.kind == AttrArg::Kind::kListFloat ? ListBlob<float>(arg.listFloat) : nullptr;
    case ops::AttrKind::kListBool:
      return arg.kind == AttrArg::Kind::kListBool ? ListBlob<bool>(arg.listInt) : nullptr;
    case ops::AttrKind::kListListInt:
      return arg.kind == AttrArg::Kind::kListListInt ? ListListBlob(arg.listListInt) : nullptr;
  }
  return nullptr;
}

Blob DefaultBlob(const ops::AttrRecord& attr) {
  switch (attr.kind) {
    case ops::AttrKind::kBool:
      return ScalarBlob<bool>(attr.intValue != 0);
    case ops::AttrKind::kInt:
      return ScalarBlob<int64_t>(attr.intValue);
    case ops::AttrKind::kFloat:
      return ScalarBlob<float>(static_cast<float>(attr.floatValue));
    case ops::AttrKind::kString:
      return StringBlob(attr.stringValue.GetString());
    case ops::AttrKind::kListInt:
      return ListBlob<int64_t>(attr.listInt);
    case ops::AttrKind::kListFloat:
      return ListBlob<float>(attr.listFloat);
    case ops::AttrKind::kListBool:
      return ListBlob<bool>(attr.listInt);
    case ops::AttrKind::kListListInt:
      return ListListBlob(attr.listListInt);
  }
  return nullptr;
}

void FillPrivateAttrs(const gert::OpImplEntry& op, gert::RuntimeAttrs* attrs) {
  for (const gert::PrivateAttr& attr : op.privateAttrs) {
    attrs->Append(attr.value ? attr.value() : nullptr);
  }
}

unsigned KindOf(ops::AttrKind kind) {
  using Attrs = gert::RuntimeAttrs;
  switch (kind) {
    case ops::AttrKind::kBool:
      return Attrs::kBool;
    case ops::AttrKind::kInt:
      return Attrs::kInt;
    case ops::AttrKind::kFloat:
      return Attrs::kFloat;
    case ops::AttrKind::kString:
      return Attrs::kString;
    case ops::AttrKind::kListInt:
      return Attrs::kListInt;
    case ops::AttrKind::kListFloat:
      return Attrs::kListFloat;
    case ops::AttrKind::kListBool:
      return Attrs::kListBool;
    case ops::AttrKind::kListListInt:
      return Attrs::kListListInt;
  }
  return Attrs::kAny;
}

bool FillAttrs(const gert::OpImplEntry& op, const OpCall& call, gert::RuntimeAttrs* attrs) {
  if (!op.def.has_value()) {
    for (const AttrArg& arg : call.attrs) attrs->Append(UntypedBlob(arg));
    FillPrivateAttrs(op, attrs);
    return true;
  }
  const std::vector<ops::OpAttrDef>& defs = op.def->Attrs();
  if (call.attrs.size() > defs.size()) {
    ReportError("%s: got %zu attributes, its definition has %zu", call.type.c_str(),
                call.attrs.size(), defs.size());
    return false;
  }
  for (size_t i = 0; i < defs.size(); ++i) {
    const ops::AttrRecord& record = defs[i].Record();
    Blob blob;
    unsigned kind = KindOf(record.kind);
    if (i < call.attrs.size()) {
      const bool asDouble = record.kind == ops::AttrKind::kFloat && call.attrs[i].isDouble;
      kind = asDouble ? gert::RuntimeAttrs::kDouble : kind;
      blob = TypedBlob(call.attrs[i], record.kind);
      if (blob == nullptr) {
        ReportError("%s: attribute %s was given a value of another type than defined",
                    call.type.c_str(), record.name.GetString());
        return false;
      }
    } else if (record.hasDefault) {
      blob = DefaultBlob(record);
    } else if (record.type == ops::REQUIRED) {
      ReportError("%s: required attribute %s is missing", call.type.c_str(),
                  record.name.GetString());
      return false;
    }
    attrs->Append(std::move(blob), kind, record.name.GetString());
  }
  FillPrivateAttrs(op, attrs);
  return true;
}

void FillTensors(const std::vector<std::vector<TensorArg>>& params,
                 std::vector<gert::AnchorInstanceInfo>* instances,
                 std::vector<gert::CompileTimeTensorDesc>* descs,
                 std::vector<gert::Tensor>* tensors) {
  for (const std::vector<TensorArg>& param : params) {
    instances->emplace_back(static_cast<uint32_t>(tensors->size()),
                            static_cast<uint32_t>(param.size()));
    for (const TensorArg& arg : param) {
      gert::CompileTimeTensorDesc desc;
      desc.SetDataType(arg.dataType);
      desc.SetOriginFormat(arg.originFormat);
      desc.SetStorageFormat(arg.storageFormat);
      descs->push_back(desc);
      gert::StorageShape shape;
      shape.MutableOriginShape() = arg.origin;
      shape.MutableStorageShape() = arg.storage;
      const gert::StorageFormat format(arg.originFormat, arg.storageFormat, {});
      const bool onHost = arg.hostData != nullptr;
      tensors->emplace_back(shape, format, onHost ? gert::kOnHost : gert::kOnDeviceHbm,
                            arg.dataType, const_cast<void*>(arg.hostData));
    }
  }
}

bool FillState(const gert::OpImplEntry& op, const OpCall& call, gert::OpCallState* state) {
  static fe::PlatFormInfos platform;
  state->node.type = call.type.c_str();
  state->node.name = call.type.c_str();
  FillTensors(call.inputs, &state->node.inputInstances, &state->node.inputs, &state->inputs);
  FillTensors(call.outputs, &state->node.outputInstances, &state->node.outputs, &state->outputs);
  state->platform = &platform;
  return FillAttrs(op, call, &state->node.attrs);
}

// Why an exception of this type is thrown where nobody says so.
std::string ExceptionText(const std::exception& error) {
  const std::string type = typeid(error) == typeid(std::bad_alloc)      ? "std::bad_alloc"
                           : typeid(error) == typeid(std::length_error) ? "std::length_error"
                                                                        : "";
  if (type.empty()) return error.what();
  return type + ": a container of a size that is negative or does not fit into memory";
}

// The first read, in this call, of an attribute, input or output that the definition does not have. Operators that several
// versions of CANN share read in this way, so the read alone is no fault.
struct MissingItem {
  const char* what = "";
  size_t index = 0;
  size_t count = 0;
  std::vector<void*> place;
};
thread_local MissingItem missingItem;

void NoteMissing(const char* what, size_t index, size_t count) {
  if (missingItem.place.empty()) missingItem = {what, index, count, CaptureStack()};
}

// Calls code of an operator library, which may throw, crash or not end. Anything but 0 becomes code. A status other than
// GRAPH_SUCCESS is a decision of that code; whatever else ends it is a finding.
template <typename Context>
int32_t CallUserCode(const char* what, const std::string& type, int32_t code,
                     uint32_t (*function)(Context*), Context* context) {
  userType = type;
  missingItem = {};
  HostFault fault{"host-code", type, what, HeadOf(function), "", ""};
  fault.advice =
      "CANN would end the process, or go on with whatever it finds there. Return GRAPH_FAILED for "
      "a call that the operator does not take.";
  try {
    uint32_t status = ge::GRAPH_SUCCESS;
    if (const auto crash = aclsim::RunForeign(reinterpret_cast<const void*>(function),
                                              [&] { status = function(context); })) {
      fault.detail = std::string(what) +
                     (crash->stuck == aclsim::Stuck::kNo ? " crashed: " : " hangs: ") +
                     aclsim::CrashText(*crash);
      if (!crash->stack.empty()) fault.place = crash->stack;
      ReportHostFault(fault);
      return code;
    }
    if (status == ge::GRAPH_SUCCESS) return kSuccess;
    ReportError("%s: %s failed with status 0x%x", type.c_str(), what, status);
    if (!missingItem.place.empty()) {
      const bool attr = std::string_view(missingItem.what) == "attribute";
      ReportHostFault(
          {attr ? "attr-index" : "param-index", type, attr ? "GetAttrPointer" : "GetInputShape",
           missingItem.place,
           Format("%s %zu is read, the definition has %zu, and %s then fails", missingItem.what,
                  missingItem.index, missingItem.count, what),
           Format("CANN returns a null pointer, so the operator refuses every call. Next: read an "
                  "index that the definition has, counted from 0%s.",
                  attr ? ", or take a default where the pointer is null" : "")});
    }
    return code;
  } catch (const std::exception& error) {
    fault.detail = std::string(what) + " threw " + ExceptionText(error);
  } catch (...) {
    fault.detail = std::string(what) + " threw an unknown exception";
  }
  ReportHostFault(fault);
  return code;
}

// Finds what no launch can have of a tiling function's results.
std::optional<HostFault> FaultOf(const std::string& type, const gert::OpCallState& state,
                                 const gert::TilingData& data, const TilingResult& result) {
  if (state.blockDim == 0 || state.blockDim > kMaxBlockDim) {
    const bool never = !result.blockDimSet;
    const auto asSigned = static_cast<int32_t>(state.blockDim);
    const std::string got = asSigned < 0
                                ? Format("%d (%u as the unsigned number that SetBlockDim takes)",
                                         asSigned, state.blockDim)
                                : std::to_string(state.blockDim);
    return HostFault{
        "tiling-block-dim",
        type,
        never ? "the tiling function" : "SetBlockDim",
        result.places.blockDim,
        never ? "its tiling function sets no block dim, which is 0 then; want 1 to 65535"
              : "its tiling function set a block dim of " + got + ", want 1 to 65535",
        "An NPU refuses the launch. Next: SetBlockDim with the number of cores that have work, at "
        "least 1; return GRAPH_FAILED for a call that the operator does not take."};
  }
  if (data.GetDataSize() > data.GetCapacity()) {
    return HostFault{"tiling-data",
                     type,
                     "GetTilingData",
                     result.places.data,
                     Format("its tiling data takes %zu bytes, registered are %zu",
                            data.GetDataSize(), data.GetCapacity()),
                     Format("CANN would write behind its buffer. Next: raise maxTilingDataSize in "
                            "IMPL_OP_OPTILING(%s).Tiling(func, maxTilingDataSize)",
                            type.c_str())};
  }
  return std::nullopt;
}

// Returns what was registered, or what the operator's tiling class takes: CANN's operator compiler tells the
// framework the size of that. Without a class it is a struct of the kernel's, whose size nobody knows here.
size_t TilingCapacity(const gert::OpImplEntry& op) {
  constexpr size_t kOfStructs = 64 * 1024;
  size_t capacity = op.maxTilingDataSize;
  bool hasClass = false;
  const std::string withKey = op.type + "_";
  for (const auto& [name, make] : optiling::CTilingDataClassFactory::GetInstance().All()) {
    const std::string of = name.GetString();
    if (of == op.type || of.compare(0, withKey.size(), withKey) == 0) {
      capacity = std::max(capacity, make()->GetDataSize());
      hasClass = true;
    }
  }
  return hasClass ? capacity : std::max(capacity, kOfStructs);
}

struct CompileInfos {
  RecursiveMutex<2, "tiling parse results"> mutex;  // a parse function may call another operator
  std::map<std::pair<const gert::OpImplEntry*, std::string>, std::shared_ptr<void>> infos;
};
PerProcess<CompileInfos> compileInfos;

int32_t CompileInfoOf(gert::OpImplEntry& op, gert::OpCallState* state) {
  if (op.createCompileInfo == nullptr) return kSuccess;
  const std::string key = CurrentSoc().name + ":" + std::to_string(VectorCoreCount()) + ":" +
                          std::to_string(CubeCoreCount());
  auto& [mutex, infos] = *compileInfos;
  const std::lock_guard lock(mutex);
  std::shared_ptr<void>& info = infos[{&op, key}];
  if (info == nullptr) {
    std::shared_ptr<void> fresh(op.createCompileInfo(), op.deleteCompileInfo);
    if (op.tilingParse != nullptr) {
      gert::TilingParseContext context(state, fresh.get());
      const int32_t status = CallUserCode("its tiling parse function", op.type, kTilingError,
                                          op.tilingParse, &context);
      if (status != kSuccess) return status;
    }
    info = std::move(fresh);
  }
  state->compileInfo = info.get();
  return kSuccess;
}

}  // namespace

void ReportHostFault(const HostFault& fault) {
  Finding finding;
  finding.kind = fault.kind;
  finding.op = fault.op.empty() ? userType : fault.op;
  finding.at.pipe = "host";
  finding.at.instruction = fault.instruction;
  finding.at.line = FindKernelLine(fault.place);
  finding.detail = fault.detail;
  finding.advice = fault.advice;
  finding.soc = CurrentSoc().name;
  ReportError("%s: %s [%s], at %s:%d", finding.op.c_str(), fault.detail.c_str(),
              finding.kind.c_str(), finding.at.line.file.c_str(), finding.at.line.line);
  ReportFinding(std::move(finding));
}

AttrArg ToAttrArg(const aclsimAttr& attr) {
  using Kind = AttrArg::Kind;
  static constexpr Kind kKinds[] = {Kind::kInt,       Kind::kFloat,      Kind::kBool,
                                    Kind::kString,    Kind::kListInt,    Kind::kListBool,
                                    Kind::kListFloat, Kind::kListListInt};
  AttrArg arg;
  arg.kind = kKinds[attr.kind];
  arg.intValue = attr.i;
  arg.floatValue = attr.f;
  if (attr.s != nullptr) arg.text = attr.s;
  if (attr.reals != nullptr) arg.listFloat.assign(attr.reals, attr.reals + attr.listSize);
  if (attr.list == nullptr) return arg;
  if (arg.kind != Kind::kListListInt) {
    arg.listInt.assign(attr.list, attr.list + attr.listSize);
    return arg;
  }
  for (uint64_t i = 0; i < attr.listSize; i += 1 + static_cast<uint64_t>(attr.list[i])) {
    const int64_t* first = attr.list + i + 1;
    arg.listListInt.emplace_back(first, first + attr.list[i]);
  }
  return arg;
}

}  // namespace aclsim

namespace gert {

void RuntimeAttrs::Missing(size_t index) const {
  aclsim::NoteMissing("attribute", index, values_.size());
}

void ComputeNodeInfo::Missing(const char* what, size_t index, size_t count) {
  aclsim::NoteMissing(what, index, count);
}

void RuntimeAttrs::Mistyped(size_t index) const {
  static constexpr const char* kNames[] = {"Int",     "Float",     "Bool",     "String",
                                           "ListInt", "ListFloat", "ListBool", "ListListInt"};
  const Value& value = values_[index];
  if (value.kinds == kDouble) {
    aclsim::ReportHostFault(
        {"attr-type", "", "GetAttrPointer", aclsim::CaptureStack(),
         aclsim::Format("attribute %zu is %s, which the aclnn function hands over as a double, and "
                        "it is read here as another type",
                        index, value.name.c_str()),
         aclsim::Format("CANN would hand out the bytes as they are, and a float of them is the "
                        "lower half of the double. Next: OP_ATTR(static_cast<float>(%s)) in the "
                        "aclnn function.",
                        value.name.c_str())});
    return;
  }
  const auto kind = static_cast<size_t>(__builtin_ctz(value.kinds));
  aclsim::ReportHostFault(
      {"attr-type", "", "GetAttrPointer", aclsim::CaptureStack(),
       aclsim::Format(
           "attribute %zu is %s, which the definition says is %s, and it is read here as "
           "another type",
           index, value.name.c_str(), kNames[kind]),
       aclsim::Format("CANN would hand out the bytes as they are. Next: Get%s(%zu), or another "
                      "index: they count the attributes of the definition from 0.",
                      kind == 3 ? "Str" : kNames[kind], index)});
}

}  // namespace gert

namespace aclsim {

int32_t RunTiling(gert::OpImplEntry& op, const OpCall& call, TilingResult* result, uint8_t fill) {
  if (op.tiling == nullptr) {
    ReportError("%s: no tiling function is registered (IMPL_OP_OPTILING(%s).Tiling(...))",
                call.type.c_str(), call.type.c_str());
    return kTilingError;
  }
  gert::OpCallState state;
  if (!FillState(op, call, &state)) return kTilingError;
  const Blob holder = gert::TilingData::CreateCap(TilingCapacity(op));
  if (holder == nullptr) {
    ReportError("%s: no memory for its tiling data", call.type.c_str());
    return kTilingError;
  }
  auto& data = *reinterpret_cast<gert::TilingData*>(holder.get());
  std::memset(data.GetData(), fill, data.GetCapacity());
  Blob workspaces = gert::ContinuousVector::Create<size_t>(kMaxWorkspaces);
  state.tilingData = &data;
  state.workspaces = reinterpret_cast<gert::ContinuousVector*>(workspaces.get());
  const int32_t parsed = CompileInfoOf(op, &state);
  if (parsed != kSuccess) return parsed;

  gert::TilingContext context(&state);
  const int32_t status =
      CallUserCode("its tiling function", call.type, kTilingError, op.tiling, &context);
  if (status != kSuccess) return status;
  const std::vector<void*> function = HeadOf(op.tiling);
  const auto placed = [&](std::vector<void*>& stack) {
    return stack.empty() ? function : std::move(stack);
  };
  result->blockDimSet = !state.blockDimSet.empty();
  result->places = {placed(state.blockDimSet), placed(state.tilingKeySet),
                    placed(state.tilingDataSet), placed(state.workspacesSet)};
  if (const auto fault = FaultOf(call.type, state, data, *result)) {
    ReportHostFault(*fault);
    return kTilingError;
  }
  const auto* bytes = static_cast<const uint8_t*>(data.GetData());
  result->data.assign(bytes, bytes + data.GetDataSize());
  result->tilingKey = state.tilingKey;
  result->blockDim = state.blockDim;
  result->needAtomic = state.needAtomic;
  result->workspaceBytes = 0;
  const auto* sizes = static_cast<const size_t*>(state.workspaces->GetData());
  for (size_t i = 0; i < state.workspaces->GetSize(); ++i) {
    if (__builtin_add_overflow(result->workspaceBytes, sizes[i], &result->workspaceBytes) ||
        result->workspaceBytes > kMostWorkspaceBytes) {
      ReportHostFault(
          {"tiling-workspace", call.type, "GetWorkspaceSizes", result->places.workspace,
           Format("its tiling function asked for %zu bytes of workspace, which no NPU has: a "
                  "negative size?",
                  sizes[i]),
           "CANN's caller would fail to allocate it. Next: look at the types of the expression."});
      return kTilingError;
    }
  }
  return kSuccess;
}

// Members of two flat JSON objects that differ, with a colon before, or nothing.
static std::string DifferingMembers(const std::string& one, const std::string& other) {
  const auto members = [](const std::string& json) {
    std::map<std::string, std::string> found;
    for (size_t at = json.find('"'); at != std::string::npos;) {
      const size_t end = json.find("\":", at + 1);
      if (end == std::string::npos) break;
      const size_t next = json.find(",\"", end);
      found[json.substr(at + 1, end - at - 1)] = json.substr(end, next - end);
      at = next == std::string::npos ? next : next + 1;
    }
    return found;
  };
  std::string names;
  const auto others = members(other);
  for (const auto& [name, value] : members(one)) {
    const auto found = others.find(name);
    if (found != others.end() && found->second != value) {
      names.append(names.empty() ? ": " : ", ").append(name);
    }
  }
  return names;
}

void WatchTiling(gert::OpImplEntry& op, const OpCall& call, TilingResult* result,
                 const std::function<std::string(const std::vector<uint8_t>&)>& text) {
  if (BufferOfTiling() == TilingBuffer::kCleared) return;
  constexpr uint8_t kFill = 0x3F;  // large as an integer, ordinary as a floating-point number
  TilingResult filled;
  if (RunTiling(op, call, &filled, kFill) != kSuccess) return;
  const std::vector<uint8_t>& data = result->data;
  if (filled.data.size() != data.size()) return;
  const auto unset = [&](size_t at) { return data[at] == 0 && filled.data[at] == kFill; };
  std::string ranges;
  for (size_t begin = 0; begin < data.size(); ++begin) {
    if (!unset(begin)) continue;
    size_t end = begin + 1;
    while (end < data.size() && unset(end)) ++end;
    ranges += Format("%s[%zu, %zu)", ranges.empty() ? "" : ", ", begin, end);
    begin = end;
  }
  if (ranges.empty()) return;
  Finding finding;
  finding.kind = "tiling-unset";
  finding.severity = Severity::kHint;
  finding.op = call.type;
  finding.at.pipe = "host";
  finding.at.instruction = "GetTilingData";
  finding.at.line = FindKernelLine(result->places.data);
  finding.detail =
      Format("the tiling function leaves bytes %s of the %zu of its tiling data as they were%s",
             ranges.c_str(), data.size(), DifferingMembers(text(data), text(filled.data)).c_str());
  finding.advice =
      "CANN does not clear the buffer from call to call: the kernel gets what an earlier call has "
      "left. Next: set every field that the kernel reads.";
  finding.soc = CurrentSoc().name;
  finding.tilingKey = result->tilingKey;
  ReportFinding(std::move(finding));
  if (BufferOfTiling() == TilingBuffer::kFilled) result->data = std::move(filled.data);
}

int32_t RunInferShape(gert::OpImplEntry& op, OpCall* call) {
  if (op.inferShape == nullptr) {
    ReportError("%s: no shape inference is registered (IMPL_OP_INFERSHAPE(%s).InferShape(...))",
                call->type.c_str(), call->type.c_str());
    return kInferShapeError;
  }
  gert::OpCallState state;
  if (!FillState(op, *call, &state)) return kInferShapeError;
  gert::InferShapeContext shapes(&state);
  int32_t status =
      CallUserCode("its shape inference", call->type, kInferShapeError, op.inferShape, &shapes);
  if (status == kSuccess && op.inferDataType != nullptr) {
    gert::InferDataTypeContext types(&state);
    status =
        CallUserCode("its dtype inference", call->type, kInferShapeError, op.inferDataType, &types);
  }
  if (status != kSuccess) return status;
  if (op.inferDataType == nullptr && op.outputTypeIsFirstInputs && !state.inputs.empty()) {
    for (gert::Tensor& out : state.outputs) out.SetDataType(state.inputs[0].GetDataType());
  }
  size_t next = 0;
  for (std::vector<TensorArg>& param : call->outputs) {
    for (TensorArg& arg : param) {
      const gert::Tensor& inferred = state.outputs[next++];
      arg.origin = arg.storage = inferred.GetOriginShape();
      arg.dataType = inferred.GetDataType();
    }
  }
  return kSuccess;
}

}  // namespace aclsim
