// SPDX-License-Identifier: Apache-2.0
// aclopCompileAndExecute: an operator of an installed package by its type name. Kernels are compiled already, so that is a look-up,
// its tiling and a launch.
#include <algorithm>
#include <cstring>
#include <memory>

#include "acl/acl_op_compiler.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnn_kernels/transpose.h"
#include "engine/options.h"
#include "opbase/cast.h"
#include "opbase/context.h"
#include "opbase/executor.h"
#include "opbase/l0_common.h"
#include "opbase/package.h"
#include "opdev/format_utils.h"
#include "opdev/make_op_executor.h"
#include "runtime/op_desc.h"
#include "runtime/options.h"
#include "runtime/state.h"
#include "runtime/stream.h"
#include "soc/soc.h"

namespace aclsim {

namespace {

using op::internal::FoundOp;

// A tensor as the program described it.
struct Given {
  aclTensorDesc desc;
  void* data = nullptr;
  size_t bytes = 0;

  bool Absent() const { return desc.dataType == ACL_DT_UNDEFINED; }
  bool OnHost() const { return desc.constant || desc.place != ACL_MEMTYPE_DEVICE; }
  bool Plain() const;
  // The dims of what lies in memory.
  const std::vector<int64_t>& Stored() const { return Plain() ? desc.dims : desc.storageDims; }
};

struct Call {
  std::string type;
  std::vector<Given> inputs;
  std::vector<Given> outputs;
  aclopAttr attr;
  aclrtStream stream = nullptr;
};

// Tensors that live as long as the call.
class Tensors {
 public:
  ~Tensors() {
    for (const aclTensor* tensor : made_) aclDestroyTensor(tensor);
  }
  const aclTensor* Add(aclTensor* tensor) {
    if (tensor != nullptr) made_.push_back(tensor);
    return tensor;
  }

 private:
  std::vector<const aclTensor*> made_;
};

std::vector<ge::DataType> Types(const std::vector<Given>& tensors) {
  std::vector<ge::DataType> types;
  for (const Given& tensor : tensors) {
    types.push_back(tensor.Absent() ? ge::DT_UNDEFINED
                                    : static_cast<ge::DataType>(tensor.desc.dataType));
  }
  return types;
}

// Layouts that hold the elements in the order of the shape.
bool IsPlain(aclFormat format) {
  constexpr aclFormat kPlain[] = {ACL_FORMAT_UNDEFINED, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC,
                                  ACL_FORMAT_ND,        ACL_FORMAT_HWCN, ACL_FORMAT_NDHWC,
                                  ACL_FORMAT_NCDHW,     ACL_FORMAT_NC,   ACL_FORMAT_NCL};
  return std::find(std::begin(kPlain), std::end(kPlain), format) != std::end(kPlain);
}

bool Given::Plain() const { return IsPlain(desc.storageFormat); }

int32_t Read(const Api& api, const char* what, int index, const aclTensorDesc* desc,
             const aclDataBuffer* buffer, Given* given) {
  ACLSIM_RETURN_IF_ERROR(ReadTensorDesc(api, desc, &given->desc));
  if (given->Absent()) return 0;
  if (given->desc.constant) return 0;
  ACLSIM_RETURN_IF_ERROR(api.NotNull(buffer, what));
  given->data = aclGetDataBufferAddr(buffer);
  given->bytes = aclGetDataBufferSizeV2(buffer);
  size_t wanted = aclDataTypeSize(given->desc.dataType);
  bool known = true;
  for (const int64_t dim : given->Stored()) {
    known = known && dim >= 0;
    wanted *= static_cast<size_t>(std::max<int64_t>(dim, 0));
  }
  return !known || given->bytes >= wanted
             ? 0
             : api.Fail(ACL_ERROR_INVALID_PARAM,
                        "the data buffer of %s %d has %zu bytes, its description needs %zu", what,
                        index, given->bytes, wanted);
}

int32_t ReadAll(const Api& api, const char* what, int count, const aclTensorDesc* const descs[],
                const aclDataBuffer* const buffers[], std::vector<Given>* all) {
  if (count < 0) {
    return api.Fail(ACL_ERROR_INVALID_PARAM, "the number of %ss is %d, want 0 or more", what,
                    count);
  }
  ACLSIM_RETURN_IF_ERROR(count == 0 ? 0 : api.NotNull(descs, what));
  ACLSIM_RETURN_IF_ERROR(count == 0 ? 0 : api.NotNull(buffers, what));
  all->resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    ACLSIM_RETURN_IF_ERROR(
        Read(api, what, i, descs[i], buffers[i], &(*all)[static_cast<size_t>(i)]));
  }
  return 0;
}

// Kernels of packages are given tensors whose elements are where the dims say.
int32_t CheckFormats(const Api& api, const char* what, const std::vector<Given>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].Absent() || all[i].Plain()) continue;
    return api.Fail(
        ACL_ERROR_FORMAT_NOT_MATCH,
        "%s %zu has the storage format %d, which operator types of packages are not given here. "
        "Next: keep the tensor in its base format (torch_npu.npu_format_cast(tensor, 2))",
        what, i, static_cast<int>(all[i].desc.storageFormat));
  }
  return 0;
}

const char* KindName(ops::AttrKind kind) {
  constexpr const char* kNames[] = {
      "bool",         "float",         "int",         "string",
      "list of bool", "list of float", "list of int", "list of lists of int"};
  return kNames[static_cast<size_t>(kind)];
}

// The value as the definition's kind; false when it is none.
bool Convert(const aclopAttr::Value& value, ops::AttrKind kind, AttrArg* arg) {
  using From = aclopAttr::Kind;
  const bool number =
      value.kind == From::kInt || value.kind == From::kBool || value.kind == From::kDataType;
  arg->intValue = value.number;
  arg->floatValue = number ? static_cast<double>(value.number) : value.real;
  arg->text = value.text;
  arg->listInt = value.numbers;
  arg->listFloat = value.reals;
  arg->listListInt = value.lists;
  switch (kind) {
    case ops::AttrKind::kBool:
      arg->kind = AttrArg::Kind::kBool;
      return number;
    case ops::AttrKind::kInt:
      arg->kind = AttrArg::Kind::kInt;
      return number;
    case ops::AttrKind::kFloat:
      arg->kind = AttrArg::Kind::kFloat;
      return number || value.kind == From::kFloat;
    case ops::AttrKind::kString:
      arg->kind = AttrArg::Kind::kString;
      return value.kind == From::kString;
    case ops::AttrKind::kListBool:
      arg->kind = AttrArg::Kind::kListBool;
      return value.kind == From::kListBool;
    case ops::AttrKind::kListInt:
      arg->kind = AttrArg::Kind::kListInt;
      return value.kind == From::kListInt || value.kind == From::kListDataType;
    case ops::AttrKind::kListFloat:
      arg->kind = AttrArg::Kind::kListFloat;
      return value.kind == From::kListFloat;
    case ops::AttrKind::kListListInt:
      arg->kind = AttrArg::Kind::kListListInt;
      return value.kind == From::kListListInt;
  }
  return false;
}

aclopAttr::Value DefaultOf(const ops::AttrRecord& record) {
  using To = aclopAttr::Kind;
  constexpr To kKinds[] = {To::kBool,     To::kFloat,     To::kInt,     To::kString,
                           To::kListBool, To::kListFloat, To::kListInt, To::kListListInt};
  aclopAttr::Value value;
  value.kind = kKinds[static_cast<size_t>(record.kind)];
  value.number = record.intValue;
  value.real = static_cast<float>(record.floatValue);
  value.text = record.stringValue.GetString();
  value.numbers = record.listInt;
  value.reals = record.listFloat;
  value.lists = record.listListInt;
  return value;
}

// In the order of the definition. What else the program has set is for a compiler.
int32_t Attributes(const Api& api, const Call& call, const ops::OpDef& def,
                   std::vector<AttrArg>* attrs) {
  for (const ops::OpAttrDef& one : def.Attrs()) {
    const ops::AttrRecord& record = one.Record();
    const std::string name = record.name.GetString();
    const auto given = call.attr.values.find(name);
    if (given == call.attr.values.end() && !record.hasDefault && record.type == ops::REQUIRED) {
      return api.Fail(ACL_ERROR_OP_ATTR_NOT_MATCH,
                      "%s needs its attribute %s (%s), which is not set", call.type.c_str(),
                      name.c_str(), KindName(record.kind));
    }
    attrs->emplace_back();
    const aclopAttr::Value value =
        given == call.attr.values.end() ? DefaultOf(record) : given->second;
    if (!Convert(value, record.kind, &attrs->back())) {
      return api.Fail(ACL_ERROR_OP_ATTR_NOT_MATCH,
                      "attribute %s of %s is a %s, and another type is set", name.c_str(),
                      call.type.c_str(), KindName(record.kind));
    }
  }
  return 0;
}

const aclTensor* OnHost(const Given& given, const op::Shape& shape, aclOpExecutor* executor) {
  aclTensor* tensor =
      executor->AllocHostTensor(shape, static_cast<op::DataType>(given.desc.dataType));
  const void* data = given.desc.constant ? given.desc.value.data() : given.data;
  const size_t bytes = std::min(given.desc.constant ? given.desc.value.size() : given.bytes,
                                given.desc.Elements() * aclDataTypeSize(given.desc.dataType));
  if (tensor != nullptr && bytes > 0) std::memcpy(tensor->GetData(), data, bytes);
  return tensor;
}

const aclTensor* ToTensor(const Given& given, aclOpExecutor* executor, Tensors* tensors) {
  const std::vector<int64_t>& dims = given.desc.dims;
  if (given.OnHost()) {
    op::Shape shape;
    for (const int64_t dim : dims) shape.AppendDim(dim);
    return OnHost(given, shape, executor);
  }
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  const std::vector<int64_t>& stored = given.Stored();
  return tensors->Add(aclCreateTensor(dims.data(), dims.size(), given.desc.dataType, strides.data(),
                                      0,
                                      given.Plain() ? given.desc.format : given.desc.storageFormat,
                                      stored.data(), stored.size(), given.data));
}

// One argument for each parameter of the definition: the dynamic one takes what the others leave.
int32_t Arguments(const Api& api, const Call& call, const char* what,
                  const std::vector<Given>& given, const std::vector<ops::ParamRecord>& params,
                  aclOpExecutor* executor, Tensors* tensors, std::vector<op::OpArg>* args) {
  size_t next = 0;
  for (size_t i = 0; i < params.size() && next < given.size(); ++i) {
    if (params[i].type != ops::DYNAMIC) {
      const Given& one = given[next++];
      const aclTensor* tensor = one.Absent() ? nullptr : ToTensor(one, executor, tensors);
      if (tensor == nullptr && !one.Absent()) return ACL_ERROR_INVALID_PARAM;
      if (tensor == nullptr && params[i].type == ops::REQUIRED) {
        return api.Fail(ACL_ERROR_OP_INPUT_NOT_MATCH, "%s %s of %s is required, and left out", what,
                        params[i].name.GetString(), call.type.c_str());
      }
      args->emplace_back(tensor);
      continue;
    }
    const size_t behind = params.size() - i - 1;
    std::vector<const aclTensor*> list;
    while (next + behind < given.size()) {
      list.push_back(ToTensor(given[next++], executor, tensors));
      if (list.back() == nullptr) return ACL_ERROR_INVALID_PARAM;
    }
    args->emplace_back(
        static_cast<const aclTensorList*>(executor->AllocTensorList(list.data(), list.size())));
  }
  if (next < given.size()) {
    return api.Fail(ACL_ERROR_OP_INPUT_NOT_MATCH, "%s has %zu %ss in its definition, got %zu",
                    call.type.c_str(), params.size(), what, given.size());
  }
  return 0;
}

// Memory for the run, which goes back when the stream is through with it.
struct Workspace {
  void* memory = nullptr;
  uint64_t bytes = 0;

  int32_t Take(const Api& api, uint64_t wanted) {
    bytes = wanted;
    if (wanted == 0) return 0;
    std::string why;
    std::shared_ptr<Context> context;
    ACLSIM_RETURN_IF_ERROR(api.Current(&context));
    const int32_t error = Global().device.Allocate(wanted, DeviceMemoryBytes(), context->device,
                                                   CheckedMode(), api.caller(), &memory, &why);
    return error == 0 ? 0 : api.FailText(error, "workspace: " + why);
  }
  void Give(const char* by) const {
    if (memory == nullptr) return;
    std::string why;
    Global().pending.TakeBlock(reinterpret_cast<uintptr_t>(memory), bytes);
    Global().device.Free(memory, by, &why);
  }
};

int32_t CodeOf(aclnnStatus status) {
  constexpr int32_t kCallers = 161;
  constexpr int32_t kRuntime = 361;
  switch (status / 1000) {
    case kCallers:
      return ACL_ERROR_INVALID_PARAM;
    case kRuntime:
      return ACL_ERROR_RT_FAILURE;
    default:
      return ACL_ERROR_GE_FAILURE;
  }
}

int32_t Failed(const Api& api, const Call& call, const char* step, aclnnStatus status) {
  return api.Fail(CodeOf(status), "%s: %s failed (%d); the next message says why",
                  call.type.c_str(), step, status);
}

int32_t InferOutputs(const Api& api, Call* call, const op::OpArgGroup& inputs,
                     const ResolvedOp& resolved, const std::vector<AttrArg>& attrs,
                     aclOpExecutor* executor) {
  std::vector<op::OpArg> outputs;
  std::vector<const aclTensor*> inferred;
  for (const Given& given : call->outputs) {
    inferred.push_back(executor->AllocTensor(static_cast<op::DataType>(given.desc.dataType),
                                             op::Format::FORMAT_ND, op::Format::FORMAT_ND));
    outputs.emplace_back(inferred.back());
  }
  if (outputs.size() != resolved.outputs.size())
    return 0;  // a dynamic output has what the program says
  const aclnnStatus status =
      op::internal::InferShape(call->type, inputs, {op::OpArgRole::kOutput, outputs}, attrs);
  if (status != ACLNN_SUCCESS) return Failed(api, *call, "the inference of its shapes", status);
  for (size_t i = 0; i < inferred.size(); ++i) {
    std::vector<int64_t>& dims = call->outputs[i].desc.dims;
    const bool known = std::none_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; });
    const op::Shape& shape = inferred[i]->GetViewShape();
    if (known && static_cast<int64_t>(call->outputs[i].desc.Elements()) != shape.GetShapeSize()) {
      return api.Fail(
          ACL_ERROR_OP_OUTPUT_NOT_MATCH, "output %s of %s has %zu elements, its inputs make %lld",
          resolved.outputs[i].name.GetString(), call->type.c_str(),
          call->outputs[i].desc.Elements(), static_cast<long long>(shape.GetShapeSize()));
    }
    dims.clear();
    for (size_t d = 0; d < shape.GetDimNum(); ++d) dims.push_back(shape.GetDim(d));
  }
  return 0;
}

int32_t Launch(const Api& api, const Call& call, aclOpExecutor* executor) {
  Workspace workspace;
  ACLSIM_RETURN_IF_ERROR(workspace.Take(api, executor->State().GetPlan()->workspaceBytes));
  const aclnnStatus status =
      CommonOpExecutorRun(workspace.memory, workspace.bytes, executor, call.stream);
  if (status != ACLNN_SUCCESS) {
    workspace.Give(api.name());
    return Failed(api, call, "its launch", status);
  }
  int32_t error = 0;
  const std::shared_ptr<Stream> stream = FindStream(api, call.stream, &error);
  if (workspace.memory != nullptr && stream != nullptr) {
    const char* by = api.name();
    error = stream->Enqueue([workspace, by] { return workspace.Give(by), TaskResult{}; },
                            Stream::Run::kAlways);
  }
  return error;
}

// The values of a constant or of host memory: shapes, strides.
std::vector<int64_t> Numbers(const Given& given) {
  const void* from = given.desc.constant ? given.desc.value.data() : given.data;
  const size_t bytes = given.desc.constant ? given.desc.value.size() : given.bytes;
  std::vector<int64_t> numbers(std::min(
      given.desc.Elements(), bytes / std::max<size_t>(aclDataTypeSize(given.desc.dataType), 1)));
  op::internal::ConvertElements(from, static_cast<op::DataType>(given.desc.dataType),
                                numbers.data(), op::DataType::DT_INT64, numbers.size());
  return numbers;
}

// The tensors of a call of one of CANN's own operators.
class OwnCall {
 public:
  OwnCall(const Call& call, aclOpExecutor* executor) : call_(call), executor_(executor) {}

  const aclTensor* In(size_t i) { return ToTensor(call_.inputs[i], executor_, &tensors_); }
  const aclTensor* Out() {
    if (out_ == nullptr) out_ = ToTensor(call_.outputs[0], executor_, &tensors_);
    return out_;
  }
  std::vector<int64_t> NumbersOf(size_t i) const { return Numbers(call_.inputs[i]); }

  // The view of x whose shape, strides and offset are inputs from `first` on.
  const aclTensor* View(const aclTensor* x, size_t first) {
    const std::vector<int64_t> offset = NumbersOf(first + 2);
    return View(x, NumbersOf(first), NumbersOf(first + 1), offset.empty() ? 0 : offset[0]);
  }
  const aclTensor* View(const aclTensor* x, const std::vector<int64_t>& dims,
                        const std::vector<int64_t>& strides, int64_t offset) {
    if (x == nullptr || dims.size() != strides.size()) return nullptr;
    if (op::IsPrivateFormat(x->GetStorageFormat())) {
      OP_LOGE(ACLNN_ERR_PARAM_INVALID,
              "elements in format %s are not where strides say; make the tensor ND first",
              op::ToString(x->GetStorageFormat()).GetString());
      return nullptr;
    }
    op::Shape shape;
    for (const int64_t dim : dims) shape.AppendDim(dim);
    const aclTensor* view = executor_->CreateView(
        x, shape, x->GetStorageShape(), op::Strides(strides.begin(), strides.end()), offset);
    return view != nullptr && op::internal::CheckView(view, call_.type.c_str()) ? view : nullptr;
  }
  bool Copy(const aclTensor* from, const aclTensor* to) {
    return from != nullptr && to != nullptr &&
           l0op::AddFormatCast(call_.type.c_str(), from, to, executor_);
  }
  bool Zero(const aclTensor* to) {
    const auto clear = [](const auto& uses, const std::vector<uint8_t*>& first) {
      std::fill_n(first[0], static_cast<size_t>(uses[0].Bytes()), uint8_t{0});
    };
    return to != nullptr && l0op::AddHostTask(call_.type.c_str(), {}, to, op::internal::Flow::kAll,
                                              clear, executor_);
  }
  // Clients describe the view of a tensor in a private format, not what lies in the storage.
  bool Identity() {
    Given in = call_.inputs[0];
    Given out = call_.outputs[0];
    if (in.Plain() != out.Plain())
      (in.Plain() ? out : in).desc.dims = (in.Plain() ? in : out).desc.dims;
    return Copy(ToTensor(in, executor_, &tensors_), ToTensor(out, executor_, &tensors_));
  }
  bool Transpose() {
    const aclTensor* x = In(0);
    const std::vector<int64_t> order = NumbersOf(1);
    const aclTensor* moved =
        x == nullptr
            ? nullptr
            : l0op::Transpose(x, executor_->AllocIntArray(order.data(), order.size()), executor_);
    return Copy(moved, Out());
  }
  bool Fill() {
    const aclTensor* one = In(1);
    const std::vector<int64_t>& dims = call_.outputs[0].desc.dims;
    return Copy(View(one, dims, std::vector<int64_t>(dims.size(), 0), 0), Out());
  }

 private:
  const Call& call_;
  aclOpExecutor* executor_;
  Tensors tensors_;
  const aclTensor* out_ = nullptr;
};

// CANN's own operators by which clients copy tensors that are in private formats, or have gaps.
struct OwnType {
  const char* name;
  size_t inputs;
  bool (*add)(OwnCall& call);
};
constexpr OwnType kOwnTypes[] = {
    {"Identity", 1, [](OwnCall& call) { return call.Identity(); }},
    {"ZerosLike", 1, [](OwnCall& call) { return call.Zero(call.Out()); }},
    {"Fill", 2, [](OwnCall& call) { return call.Fill(); }},
    {"Transpose", 2, [](OwnCall& call) { return call.Transpose(); }},
    {"AsStrided", 4, [](OwnCall& call) { return call.Copy(call.View(call.In(0), 1), call.Out()); }},
    {"ViewCopy", 8,
     [](OwnCall& call) { return call.Copy(call.View(call.In(4), 5), call.View(call.In(0), 1)); }},
};

const OwnType* FindOwnType(const std::string& name) {
  const auto* found = std::find_if(std::begin(kOwnTypes), std::end(kOwnTypes),
                                   [&](const OwnType& type) { return type.name == name; });
  return found == std::end(kOwnTypes) ? nullptr : found;
}

int32_t RunOwn(const Api& api, const OwnType& type, const Call& call) {
  if (call.inputs.size() != type.inputs || call.outputs.size() != 1) {
    return api.Fail(ACL_ERROR_OP_INPUT_NOT_MATCH, "%s has %zu inputs and 1 output, got %zu and %zu",
                    type.name, type.inputs, call.inputs.size(), call.outputs.size());
  }
  UniqueExecutor executor("aclopCompileAndExecute");
  OwnCall own(call, executor.get());
  if (!type.add(own)) {
    return api.Fail(ACL_ERROR_FORMAT_NOT_MATCH, "%s failed; the next message says why", type.name);
  }
  aclOpExecutor* ready = nullptr;
  executor.ReleaseTo(&ready);
  return Launch(api, call, ready);
}

int32_t Run(const Api& api, Call* call) {
  int32_t error = 0;
  if (FindStream(api, call->stream, &error) == nullptr) return error;
  std::string searched;
  int32_t missing = 0;
  const std::vector<FoundOp> found =
      op::internal::FindOpInPackages(call->type, &missing, &searched);
  op::internal::CurrentCall().api = Format("%s(%s)", api.name(), call->type.c_str());
  op::internal::CurrentCall().tensors.clear();
  if (found.empty()) {
    if (const OwnType* own = FindOwnType(call->type)) return RunOwn(api, *own, *call);
  }
  if (found.empty()) {
    return api.Fail(ACL_ERROR_OP_NOT_FOUND,
                    "operator type %s%s is in no installed package (%s). Next: aclgrad build PATH "
                    "for a package that has it, or name "
                    "its folder in ASCEND_CUSTOM_OPP_PATH",
                    call->type.c_str(),
                    op::internal::TypeText(Types(call->inputs), Types(call->outputs)).c_str(),
                    searched.c_str());
  }
  ACLSIM_RETURN_IF_ERROR(CheckFormats(api, "input", call->inputs));
  ACLSIM_RETURN_IF_ERROR(CheckFormats(api, "output", call->outputs));
  const auto& def = found[0].entry->def;
  ResolvedOp resolved;
  std::string why = "its package has no definition of it (OP_ADD)";
  if (!def.has_value() || !ResolveOp(*def, CurrentSoc().shortName, &resolved, &why)) {
    return api.Fail(ACL_ERROR_OP_NOT_FOUND, "operator type %s: %s", call->type.c_str(),
                    why.c_str());
  }
  std::vector<AttrArg> attrs;
  ACLSIM_RETURN_IF_ERROR(Attributes(api, *call, *def, &attrs));

  Tensors tensors;
  UniqueExecutor executor("aclopCompileAndExecute");
  op::OpArgGroup inputs{op::OpArgRole::kInput, {}};
  op::OpArgGroup outputs{op::OpArgRole::kOutput, {}};
  ACLSIM_RETURN_IF_ERROR(Arguments(api, *call, "input", call->inputs, resolved.inputs,
                                   executor.get(), &tensors, &inputs.args));
  if (found[0].entry->inferShape != nullptr) {
    ACLSIM_RETURN_IF_ERROR(InferOutputs(api, call, inputs, resolved, attrs, executor.get()));
  }
  ACLSIM_RETURN_IF_ERROR(Arguments(api, *call, "output", call->outputs, resolved.outputs,
                                   executor.get(), &tensors, &outputs.args));
  const aclnnStatus status =
      op::internal::AddKernelLaunch(call->type, executor.get(), inputs, outputs, attrs);
  if (status != ACLNN_SUCCESS) return Failed(api, *call, "its preparation", status);
  aclOpExecutor* ready = nullptr;
  executor.ReleaseTo(&ready);
  return Launch(api, *call, ready);
}

}  // namespace

}  // namespace aclsim

using aclsim::Api;
using aclsim::Call;
using aclsim::Enter;

namespace {

int32_t ReadCall(const Api& api, const char* opType, int numInputs,
                 const aclTensorDesc* const inputDesc[], const aclDataBuffer* const inputs[],
                 int numOutputs, const aclTensorDesc* const outputDesc[],
                 const aclDataBuffer* const outputs[], const aclopAttr* attr, aclrtStream stream,
                 Call* call) {
  ACLSIM_RETURN_IF_ERROR(api.NotNull(opType, "opType"));
  call->type = opType;
  call->stream = stream;
  ACLSIM_RETURN_IF_ERROR(
      aclsim::ReadAll(api, "input", numInputs, inputDesc, inputs, &call->inputs));
  ACLSIM_RETURN_IF_ERROR(
      aclsim::ReadAll(api, "output", numOutputs, outputDesc, outputs, &call->outputs));
  return attr == nullptr ? 0 : aclsim::ReadOpAttr(api, attr, &call->attr);
}

}  // namespace

extern "C" {

aclError aclopCompileAndExecute(const char* opType, int numInputs,
                                const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[],
                                aclDataBuffer* const outputs[], const aclopAttr* attr,
                                aclopEngineType, aclopCompileType, const char*,
                                aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    Call call;
    ACLSIM_RETURN_IF_ERROR(ReadCall(api, opType, numInputs, inputDesc, inputs, numOutputs,
                                    outputDesc, outputs, attr, stream, &call));
    return aclsim::Run(api, &call);
  });
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs,
                                  aclTensorDesc* outputDesc[], aclDataBuffer* outputs[],
                                  aclopAttr* attr, aclopEngineType, aclopCompileType, const char*,
                                  aclrtStream stream) {
  return Enter(__func__, [&](const Api& api) -> int32_t {
    Call call;
    ACLSIM_RETURN_IF_ERROR(ReadCall(api, opType, numInputs, inputDesc, inputs, numOutputs,
                                    outputDesc, outputs, attr, stream, &call));
    ACLSIM_RETURN_IF_ERROR(aclsim::Run(api, &call));
    for (int i = 0; i < numOutputs; ++i) {
      ACLSIM_RETURN_IF_ERROR(aclsim::SetTensorDims(api, outputDesc[i],
                                                   call.outputs[static_cast<size_t>(i)].desc.dims));
    }
    return 0;
  });
}

}  // extern "C"
