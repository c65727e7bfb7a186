// SPDX-License-Identifier: Apache-2.0
// Kernel launches: arguments to an operator call, tiling in the first stage, the launch itself on
// the stream.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "engine/gm_shadow.h"
#include "engine/options.h"
#include "launch/launch.h"
#include "opbase/cast.h"
#include "opbase/executor.h"
#include "opbase/op_types.h"
#include "opbase/package.h"
#include "opdev/make_op_executor.h"
#include "opdev/shape_utils.h"
#include "runtime/runtime.h"
#include "soc/library_workspace.h"

namespace op::internal {
namespace {

class KernelTask : public Task {
 public:
  explicit KernelTask(const std::string& opType) : Task(opType) {}
  bool IsKernel() const override { return true; }
  bool CanLaunch() const override;
  aclsim::TaskResult Run(const TaskInput& input) const override;

  // One kernel argument: the tensor uses[first], or a list of count tensors from there.
  struct Argument {
    size_t first = 0;
    size_t count = 1;
    bool list = false;
  };

  const void* entry = nullptr;
  std::optional<std::vector<uint64_t>> keys;  // that the kernel has; none: its library does not say
  std::vector<Argument> arguments;
  // Outputs whose shape the kernel writes (OutputShapeDependOnCompute), in order.
  std::vector<const aclTensor*> shaped;
  aclsim::TilingResult tiling;
  std::string tilingText;
  const aclsim::Soc* soc = nullptr;
};

void Poison(uint8_t* memory, uint64_t bytes) {
  std::memset(memory, aclsim::kPoisonByte, bytes);
  aclsim::MarkGm(memory, bytes, false);
}

bool IsRead(const std::vector<aclsim::GmRegion>& regions, const aclsim::GmRegion& out) {
  return std::any_of(regions.begin(), regions.end(), [&](const auto& in) {
    return in.kind == aclsim::RegionKind::kInput && in.addr < out.addr + out.bytes &&
           out.addr < in.addr + in.bytes;
  });
}

// Outputs are about to be written in full, so what stays of the poison is an element that the
// kernel forgot. Memory that is read as well is left alone.
void PoisonOutputs(const std::string& op, const std::vector<aclsim::GmRegion>& regions) {
  for (const aclsim::GmRegion& out : regions) {
    if (out.kind == aclsim::RegionKind::kOutput && !IsRead(regions, out) &&
        !aclsim::IsKeptOutput(op, out.name)) {
      Poison(out.addr, out.bytes);
    }
  }
}

// InitValue of an output as an element of its type; empty without one.
std::vector<uint8_t> InitialElement(const ops::ParamRecord& param, ge::DataType type) {
  if (param.initValues.empty()) return {};
  size_t row = 0;
  if (param.initValues.size() > 1) {
    const auto found = std::find(param.dataTypes.begin(), param.dataTypes.end(), type);
    row = static_cast<size_t>(found - param.dataTypes.begin());
    if (row >= param.initValues.size()) return {};
  }
  const ops::ScalarVar& value = param.initValues[row];
  const bool real = value.scalar_type == ops::ScalarType::FLOAT32 ||
                    value.scalar_type == ops::ScalarType::FLOAT16;
  std::vector<uint8_t> element(static_cast<size_t>(ge::GetSizeByDataType(type)));
  const bool converted =
      real ? ConvertElements(&value.scalar_num.value_f32, ge::DT_FLOAT, element.data(), type, 1)
           : ConvertElements(&value.scalar_num.value_i64, ge::DT_INT64, element.data(), type, 1);
  return converted ? element : std::vector<uint8_t>();
}

// InitValue takes effect together with SetNeedAtomic(true), as documented.
void FillOutputs(const std::vector<TensorUse>& uses, const TaskInput& input) {
  for (size_t i = 0; i < uses.size(); ++i) {
    const std::vector<uint8_t>& element = uses[i].initial;
    if (element.empty() || input.addrs[i] == nullptr) continue;
    const auto bytes = static_cast<size_t>(uses[i].Bytes());
    for (size_t at = 0; at < bytes; ++at) input.addrs[i][at] = element[at % element.size()];
    if (aclsim::CheckedMode()) aclsim::MarkGm(input.addrs[i], bytes, true);
  }
}

// A kernel gets this for a tensor list: the distance to the addresses in bytes, then per tensor a
// word of rank and index and its dims, then the addresses. Without dims the shape part is one word
// of rank 0 and count, and a word of ones.
std::vector<uint64_t> ListWords(const std::vector<TensorUse>& uses, size_t first, size_t count,
                                const std::vector<uint8_t*>& addrs) {
  constexpr uint32_t kIndexShift = 32;
  constexpr uint64_t kNoShape = UINT32_MAX;
  std::vector<uint64_t> words(1);
  const bool scalars = count == 0 || uses[first].dims.empty();
  if (scalars) {
    words.push_back(static_cast<uint64_t>(count) << kIndexShift);
    words.push_back(kNoShape);
  } else {
    for (size_t i = 0; i < count; ++i) {
      const std::vector<int64_t>& dims = uses[first + i].dims;
      words.push_back(dims.size() | static_cast<uint64_t>(i) << kIndexShift);
      words.insert(words.end(), dims.begin(), dims.end());
    }
  }
  words[0] = words.size() * sizeof(uint64_t);
  for (size_t i = 0; i < count; ++i) {
    words.push_back(reinterpret_cast<uint64_t>(addrs[first + i]));
  }
  return words;
}

// A kernel gets this for the shapes that it finds out: per output a word of rank, then its dims.
constexpr size_t kShapeDims = 8;
constexpr size_t kShapeWords = 1 + kShapeDims;

// A caller reads the shape with aclGetViewShape after the stream is synchronised. What is no shape
// of that memory is left alone: nobody says what it would mean.
void RefreshShapes(const std::vector<const aclTensor*>& outputs, const uint64_t* words) {
  const HoldHandles hold;
  for (size_t i = 0; i < outputs.size(); ++i, words += kShapeWords) {
    // The upper half of a rank says how wide the dims are, which are 64 bits wide here.
    const uint64_t rank = words[0] & INT32_MAX;
    if (rank == 0 || rank > kShapeDims || !IsAlive(HandleKind::kTensor, outputs[i])) continue;
    auto* tensor = const_cast<aclTensor*>(outputs[i]);
    const auto room = static_cast<uint64_t>(tensor->GetViewShape().GetShapeSize());
    Shape shape;
    uint64_t size = 1;
    for (size_t d = 0; d < rank && size <= room; ++d) {
      shape.AppendDim(static_cast<int64_t>(words[1 + d]));
      size = words[1 + d] > room ? room + 1 : size * words[1 + d];
    }
    if (size <= room) tensor->SetViewShape(shape);
  }
}

std::string KeyList(const std::vector<uint64_t>& keys) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(keys[i]);
  }
  return text + (keys.size() > kMost ? ", ... (" + std::to_string(keys.size()) + ")" : "");
}

// A binary holds a function for each key that the kernel's source names.
bool KernelTask::CanLaunch() const {
  if (!keys.has_value() || std::find(keys->begin(), keys->end(), tiling.tilingKey) != keys->end()) {
    return true;
  }
  const bool none = *keys == std::vector<uint64_t>{0};
  aclsim::ReportHostFault(
      {"tiling-key-unknown", name, "SetTilingKey", tiling.places.key,
       "its tiling function set tiling key " + std::to_string(tiling.tilingKey) +
           ", which the kernel does not have; it has " + KeyList(*keys) +
           (none ? ", as no TILING_KEY_IS of its source names another" : ""),
       "An NPU refuses the launch: the binary has no function for this key. Next: "
       "if (TILING_KEY_IS(" +
           std::to_string(tiling.tilingKey) +
           ")) in the kernel, or another key in the tiling function."});
  return false;
}

aclsim::TaskResult KernelTask::Run(const TaskInput& input) const {
  aclsim::KernelLaunch launch;
  launch.opType = name;
  launch.entry = entry;
  launch.blockDim = tiling.blockDim;
  launch.tilingKey = tiling.tilingKey;
  if (std::string why; !aclsim::FindHalves(&launch, &why)) {
    return {ACL_ERROR_INVALID_PARAM, why};
  }
  launch.tilingText = tilingText;
  launch.soc = soc;
  for (size_t i = 0; i < uses.size(); ++i) {
    uint8_t* addr = input.addrs[i];
    if (addr == nullptr) continue;
    const auto kind = i < inputCount ? aclsim::RegionKind::kInput : aclsim::RegionKind::kOutput;
    aclsim::GmRegion region{kind, addr, static_cast<uint64_t>(uses[i].Bytes()), uses[i].name};
    region.whole = kind == aclsim::RegionKind::kOutput && !uses[i].partial &&
                   !IsRead(launch.regions, region) && !aclsim::IsPartialOutput(name, region.name);
    region.width = static_cast<uint32_t>(std::max(ge::GetSizeByDataType(uses[i].dataType), 0));
    launch.regions.push_back(std::move(region));
  }
  std::vector<std::unique_ptr<AlignedBytes>> lists;
  for (const Argument& argument : arguments) {
    if (!argument.list) {
      launch.args.push_back(input.addrs[argument.first]);
      continue;
    }
    const std::vector<uint64_t> words =
        ListWords(uses, argument.first, argument.count, input.addrs);
    const size_t bytes = words.size() * sizeof(uint64_t);
    lists.push_back(std::make_unique<AlignedBytes>(bytes));
    std::memcpy(lists.back()->data(), words.data(), bytes);
    launch.args.push_back(lists.back()->data());
    const std::string of = argument.count == 0 ? "" : " of " + uses[argument.first].name;
    launch.regions.push_back(
        {aclsim::RegionKind::kInput, lists.back()->data(), bytes, "the tensor list" + of});
  }
  const AlignedBytes shapes(shaped.size() * kShapeWords * sizeof(uint64_t));
  if (!shaped.empty()) {
    launch.args.push_back(shapes.data());
    aclsim::GmRegion region{aclsim::RegionKind::kOutput, shapes.data(), shapes.size(),
                            "the shapes of outputs"};
    region.width = sizeof(uint64_t);
    launch.regions.push_back(std::move(region));
  }
  launch.args.push_back(input.workspace);
  if (input.workspace != nullptr) {
    launch.regions.push_back(
        {aclsim::RegionKind::kWorkspace, input.workspace, workspaceBytes, "workspace"});
  }
  // A copy per launch: a kernel that writes there must not change the next run of a repeatable
  // executor.
  const AlignedBytes data(tiling.data.size());
  std::copy(tiling.data.begin(), tiling.data.end(), data.data());
  launch.args.push_back(data.data());
  launch.regions.push_back({aclsim::RegionKind::kTiling, data.data(), data.size(), "tiling"});
  if (tiling.needAtomic) FillOutputs(uses, input);
  if (aclsim::CheckedMode()) {
    if (!tiling.needAtomic) PoisonOutputs(name, launch.regions);
    if (input.workspace != nullptr) aclsim::FillAsNew(input.workspace, workspaceBytes);
  }
  const aclsim::LaunchTilingScope scope(launch,
                                        {tiling.places, aclsim::LibraryWorkspace(soc->npuArch)});
  const aclsim::LaunchResult result = aclsim::LaunchCounted(launch);
  if (result.status == 0) {
    RefreshShapes(shaped, reinterpret_cast<const uint64_t*>(shapes.data()));
  }
  return {result.status, result.message, result.goesOn};
}

const OpArgGroup* Group(std::initializer_list<OpArgGroup> groups, OpArgRole role) {
  for (const OpArgGroup& group : groups) {
    if (group.role == role) return &group;
  }
  return nullptr;
}

// Tensors of one role, by parameter.
struct Param {
  std::vector<const aclTensor*> tensors;
  bool list = false;
};
using Params = std::vector<Param>;

bool TensorsOf(const std::string& opType, const OpArgGroup* group, const char* role,
               Params* params) {
  if (group == nullptr) return true;
  for (const OpArg& arg : group->args) {
    if (arg.kind == OpArg::Kind::kTensor) {
      const auto* tensor = static_cast<const aclTensor*>(arg.pointer);
      params->emplace_back();
      if (tensor != nullptr) params->back().tensors.push_back(tensor);
    } else if (arg.kind == OpArg::Kind::kTensorList) {
      const auto* list = static_cast<const aclTensorList*>(arg.pointer);
      params->emplace_back();
      if (list == nullptr) continue;
      params->back().tensors.assign(list->GetData(), list->GetData() + list->Size());
      params->back().list = true;
    } else {
      OP_LOGE(ACLNN_ERR_INNER, "%s: %s %zu is not a tensor", opType.c_str(), role, params->size());
      return false;
    }
  }
  return true;
}

aclsim::TensorArg ToTensorArg(const aclTensor& tensor) {
  aclsim::TensorArg arg;
  arg.origin = tensor.GetOriginalShape();
  arg.storage = tensor.GetStorageShape();
  arg.dataType = tensor.GetDataType();
  arg.originFormat = tensor.GetOriginalFormat();
  arg.storageFormat = tensor.GetStorageFormat();
  if (tensor.GetPlacement() == gert::kOnHost) arg.hostData = tensor.GetData();
  return arg;
}

std::vector<std::vector<aclsim::TensorArg>> ToTensorArgs(const Params& params) {
  std::vector<std::vector<aclsim::TensorArg>> args;
  for (const Param& param : params) {
    args.emplace_back();
    for (const aclTensor* tensor : param.tensors) args.back().push_back(ToTensorArg(*tensor));
  }
  return args;
}

bool ToAttrArg(const OpArg& arg, aclsim::AttrArg* attr) {
  using Kind = aclsim::AttrArg::Kind;
  switch (arg.kind) {
    case OpArg::Kind::kInt:
    case OpArg::Kind::kDataType:
      attr->kind = Kind::kInt;
      attr->intValue = arg.intValue;
      return true;
    case OpArg::Kind::kBool:
      attr->kind = Kind::kBool;
      attr->intValue = arg.intValue;
      return true;
    case OpArg::Kind::kFloat:
    case OpArg::Kind::kDouble:
      attr->kind = Kind::kFloat;
      attr->floatValue = arg.floatValue;
      attr->isDouble = arg.kind == OpArg::Kind::kDouble;
      return true;
    case OpArg::Kind::kString:
      attr->kind = Kind::kString;
      attr->text = arg.text.GetString();
      return true;
    default:
      break;
  }
  if (arg.pointer == nullptr) return false;
  if (arg.kind == OpArg::Kind::kIntArray) {
    const auto* array = static_cast<const aclIntArray*>(arg.pointer);
    attr->kind = Kind::kListInt;
    attr->listInt.assign(array->GetData(), array->GetData() + array->Size());
  } else if (arg.kind == OpArg::Kind::kBoolArray) {
    const auto* array = static_cast<const aclBoolArray*>(arg.pointer);
    attr->kind = Kind::kListBool;
    attr->listInt.assign(array->GetData(), array->GetData() + array->Size());
  } else if (arg.kind == OpArg::Kind::kFloatArray) {
    const auto* array = static_cast<const aclFloatArray*>(arg.pointer);
    attr->kind = Kind::kListFloat;
    attr->listFloat.assign(array->GetData(), array->GetData() + array->Size());
  } else if (arg.kind == OpArg::Kind::kScalar) {
    const auto* scalar = static_cast<const aclScalar*>(arg.pointer);
    const bool integer = op::IsIntegralType(scalar->GetDataType(), true);
    attr->kind = integer ? Kind::kInt : Kind::kFloat;
    attr->intValue = integer ? scalar->ToInt64() : 0;
    attr->floatValue = integer ? 0 : scalar->ToDouble();
  } else {
    return false;
  }
  return true;
}

bool AttrsOf(const std::string& opType, const OpArgGroup* group,
             std::vector<aclsim::AttrArg>* attrs) {
  if (group == nullptr) return true;
  for (const OpArg& arg : group->args) {
    attrs->emplace_back();
    if (!ToAttrArg(arg, &attrs->back())) {
      OP_LOGE(ACLNN_ERR_INNER, "%s: attribute %zu has no value that an attribute can have",
              opType.c_str(), attrs->size() - 1);
      return false;
    }
  }
  return true;
}

std::vector<ge::DataType> TypesOf(const std::vector<std::vector<aclsim::TensorArg>>& params) {
  std::vector<ge::DataType> types;
  for (const auto& param : params) {
    types.push_back(param.empty() ? ge::DT_UNDEFINED : param[0].dataType);
  }
  return types;
}

struct PackedCall {
  aclsim::OpCall call;
  Params inputs;
  Params outputs;
};

bool Pack(const std::string& opType, std::initializer_list<OpArgGroup> groups, PackedCall* packed) {
  packed->call.type = opType;
  if (!TensorsOf(opType, Group(groups, OpArgRole::kInput), "input", &packed->inputs) ||
      !TensorsOf(opType, Group(groups, OpArgRole::kOutput), "output", &packed->outputs) ||
      !AttrsOf(opType, Group(groups, OpArgRole::kAttr), &packed->call.attrs)) {
    return false;
  }
  packed->call.inputs = ToTensorArgs(packed->inputs);
  packed->call.outputs = ToTensorArgs(packed->outputs);
  return true;
}

bool AllEmpty(const Params& params) {
  for (const Param& param : params) {
    for (const aclTensor* tensor : param.tensors) {
      if (!tensor->IsEmpty()) return false;
    }
  }
  return true;
}

bool AddUse(const ExecutorState& state, const aclTensor* tensor, const std::string& name,
            KernelTask* task) {
  TensorUse use;
  const std::string own = state.NameOf(tensor);
  if (!MakeUse(tensor, name, &use)) return false;
  if (!use.rowMajor) {
    OP_LOGE(ACLNN_ERR_INNER,
            "%s: parameter %s (%s) is a strided view; make it contiguous with l0op::Contiguous",
            task->name.c_str(), name.c_str(), own.c_str());
    return false;
  }
  use.name = name;
  task->uses.push_back(std::move(use));
  return true;
}

void AddAbsent(const std::string& name, KernelTask* task) {
  task->arguments.push_back({task->uses.size(), 1, false});
  task->uses.emplace_back();
  task->uses.back().name = name;
}

// The views of one role as the kernel gets them, one argument per parameter.
bool AddUses(const ExecutorState& state, const Params& params, const std::string* names,
             KernelTask* task) {
  for (size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    if (!param.list && param.tensors.empty()) {
      AddAbsent(names[i], task);
      continue;
    }
    task->arguments.push_back({task->uses.size(), param.tensors.size(), param.list});
    for (size_t j = 0; j < param.tensors.size(); ++j) {
      const std::string name = param.list ? names[i] + "[" + std::to_string(j) + "]" : names[i];
      if (!AddUse(state, param.tensors[j], name, task)) return false;
    }
  }
  return true;
}

// The definition says this of outputs.
void DescribeOutputs(const gert::OpImplEntry& op, const Params& outputs, KernelTask* task) {
  const std::vector<int32_t>& fromResult = op.shapesFromResult;
  aclsim::ResolvedOp resolved;
  std::string ignored;
  if (!op.def.has_value() ||
      !aclsim::ResolveOp(*op.def, task->soc->shortName, &resolved, &ignored)) {
    return;
  }
  const size_t first =
      task->arguments.size() - std::min(task->arguments.size(), resolved.outputs.size());
  for (size_t i = first; i < task->arguments.size(); ++i) {
    const KernelTask::Argument& argument = task->arguments[i];
    if (resolved.outputs[i - first].shapeFromResult && argument.count == 1 &&
        i - first < outputs.size() && !outputs[i - first].tensors.empty()) {
      task->shaped.push_back(outputs[i - first].tensors[0]);
    }
    for (size_t j = argument.first; j < argument.first + argument.count; ++j) {
      TensorUse& use = task->uses[j];
      use.initial = InitialElement(resolved.outputs[i - first], use.dataType);
      use.partial = resolved.outputs[i - first].shapeFromResult ||
                    std::find(fromResult.begin(), fromResult.end(),
                              static_cast<int32_t>(i - first)) != fromResult.end();
    }
  }
}

using HostCopies = std::vector<std::vector<uint8_t>>;

// Host copies of the inputs whose values tiling reads: of those whose memory the caller has filled by now.
HostCopies CopyRead(const gert::OpImplEntry& op, const Params& inputs, aclsim::OpCall* call) {
  HostCopies copies;
  for (const int32_t index : op.tilingReads) {
    const auto param = static_cast<size_t>(index);
    if (index < 0 || param >= inputs.size()) continue;
    for (size_t i = 0; i < inputs[param].tensors.size(); ++i) {
      aclsim::TensorArg& arg = call->inputs[param][i];
      TensorUse use;
      std::string ignored;
      if (arg.hostData != nullptr || !MakeUse(inputs[param].tensors[i], op.type, &use) ||
          !use.rowMajor || use.Bytes() == 0 || use.storage->kind != Storage::Kind::kCaller ||
          use.storage->addr == nullptr) {
        continue;
      }
      const auto bytes = static_cast<uint64_t>(use.Bytes());
      const auto* device = static_cast<const char*>(use.storage->addr) + use.begin;
      const uint8_t* backing = aclsim::ToBacking(device, bytes, &ignored);
      if (backing == nullptr) continue;
      copies.emplace_back(backing, backing + bytes);
      arg.hostData = copies.back().data();
    }
  }
  return copies;
}

aclnnStatus AddPackedLaunch(const std::string& type, aclOpExecutor* executor,
                            const PackedCall& packed) {
  if (!packed.outputs.empty() && AllEmpty(packed.outputs)) return ACLNN_SUCCESS;

  int32_t status = ACLNN_SUCCESS;
  const std::vector<FoundOp> candidates = FindOpInPackages(type, &status);
  if (candidates.empty()) return status;
  KernelEntry kernel;
  const FoundOp* chosen = nullptr;
  status = FindKernel(type, candidates, TypesOf(packed.call.inputs), TypesOf(packed.call.outputs),
                      &kernel, &chosen);
  if (status != ACLNN_SUCCESS) return status;

  auto task = std::make_shared<KernelTask>(type);
  aclsim::OpCall call = packed.call;
  const HostCopies copies = CopyRead(*chosen->entry, packed.inputs, &call);
  task->entry = kernel.entry;
  task->keys = kernel.keys;
  task->soc = &aclsim::CurrentSoc();
  status = aclsim::RunTiling(*chosen->entry, call, &task->tiling);
  if (status != ACLNN_SUCCESS) {
    OP_LOGE(status, "tiling of %s failed on %s", type.c_str(), aclsim::CurrentSoc().name.c_str());
    return status;
  }
  aclsim::WatchTiling(
      *chosen->entry, call, &task->tiling,
      [chosen](const std::vector<uint8_t>& data) { return TilingJson(*chosen, data); });
  task->tilingText = TilingJson(*chosen, task->tiling.data);
  task->workspaceBytes = task->tiling.workspaceBytes;
  ExecutorState& state = executor->State();
  // Optional inputs at the end may have been left out of the call, but the kernel still has an
  // argument for them.
  const size_t definedInputs = kernel.names.size() - packed.outputs.size();
  const size_t outputNames = std::max(definedInputs, packed.inputs.size());
  if (!AddUses(state, packed.inputs, kernel.names.data(), task.get())) return ACLNN_ERR_INNER;
  while (task->arguments.size() < outputNames) {
    AddAbsent(kernel.names[task->arguments.size()], task.get());
  }
  task->inputCount = task->uses.size();
  if (!AddUses(state, packed.outputs, kernel.names.data() + outputNames, task.get())) {
    return ACLNN_ERR_INNER;
  }
  DescribeOutputs(*chosen->entry, packed.outputs, task.get());
  state.AddTask(std::move(task));
  return ACLNN_SUCCESS;
}

// Writes what is inferred to the outputs. A tensor keeps its own dtype: an operator may infer bf16 for a tensor that may be fp32, too.
aclnnStatus InferPacked(const std::string& type, PackedCall* packed) {
  int32_t status = ACLNN_SUCCESS;
  const std::vector<FoundOp> candidates = FindOpInPackages(type, &status);
  if (candidates.empty()) return status;
  status = aclsim::RunInferShape(*candidates[0].entry, &packed->call);
  if (status != ACLNN_SUCCESS) return status;
  for (size_t i = 0; i < packed->outputs.size(); ++i) {
    for (size_t j = 0; j < packed->outputs[i].tensors.size(); ++j) {
      auto* tensor = const_cast<aclTensor*>(packed->outputs[i].tensors[j]);
      const aclsim::TensorArg& arg = packed->call.outputs[i][j];
      tensor->SetViewShape(arg.origin);
      tensor->SetOriginalShape(arg.origin);
      tensor->SetStorageShape(arg.storage);
      if (tensor->GetDataType() == ge::DT_UNDEFINED) tensor->SetDataType(arg.dataType);
    }
  }
  return ACLNN_SUCCESS;
}

}  // namespace

aclnnStatus AddKernelLaunch(uint32_t opType, aclOpExecutor* executor,
                            std::initializer_list<OpArgGroup> groups) {
  const std::string type = OpTypeName(opType);
  if (executor == nullptr) {
    OP_LOGE(ACLNN_ERR_INNER_NULLPTR, "%s: the executor is NULL", type.c_str());
    return ACLNN_ERR_INNER_NULLPTR;
  }
  PackedCall packed;
  return Pack(type, groups, &packed) ? AddPackedLaunch(type, executor, packed) : ACLNN_ERR_INNER;
}

aclnnStatus AddKernelLaunch(const std::string& type, aclOpExecutor* executor,
                            const OpArgGroup& inputs, const OpArgGroup& outputs,
                            const std::vector<aclsim::AttrArg>& attrs) {
  PackedCall packed;
  if (!Pack(type, {inputs, outputs}, &packed)) return ACLNN_ERR_INNER;
  packed.call.attrs = attrs;
  return AddPackedLaunch(type, executor, packed);
}

aclnnStatus InferShape(uint32_t opType, std::initializer_list<OpArgGroup> groups) {
  const std::string type = OpTypeName(opType);
  PackedCall packed;
  return Pack(type, groups, &packed) ? InferPacked(type, &packed) : ACLNN_ERR_INNER;
}

aclnnStatus InferShape(const std::string& type, const OpArgGroup& inputs, const OpArgGroup& outputs,
                       const std::vector<aclsim::AttrArg>& attrs) {
  PackedCall packed;
  if (!Pack(type, {inputs, outputs}, &packed)) return ACLNN_ERR_INNER;
  packed.call.attrs = attrs;
  return InferPacked(type, &packed);
}

}  // namespace op::internal
