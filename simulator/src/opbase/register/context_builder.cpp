// SPDX-License-Identifier: Apache-2.0
// Contexts that unit tests make themselves.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/context_builder/op_infer_datatype_context_builder.h"
#include "base/context_builder/op_infer_shape_context_builder.h"
#include "base/context_builder/op_infer_shape_range_context_builder.h"
#include "base/context_builder/op_tiling_context_builder.h"
#include "base/context_builder/op_tiling_parse_context_builder.h"
#include "opbase/register/op_call.h"
#include "platform/platform_infos_def.h"
#include "runtime/runtime.h"

namespace gert {

namespace {

using aclsim::AttrArg;
using aclsim::ReportError;

// The tensors of one direction.
struct Side {
  std::vector<uint32_t> instances;
  std::vector<CompileTimeTensorDesc> descs;
  std::vector<Tensor> tensors;

  CompileTimeTensorDesc& Desc(size_t index) {
    if (index >= descs.size()) descs.resize(index + 1);
    return descs[index];
  }
};

void Describe(CompileTimeTensorDesc* desc, ge::DataType dataType, ge::Format originFormat,
              ge::Format storageFormat, const ExpandDimsType& expandDims) {
  desc->SetDataType(dataType);
  desc->SetOriginFormat(originFormat);
  desc->SetStorageFormat(storageFormat);
  desc->SetExpandDimsType(expandDims);
}

void Describe(CompileTimeTensorDesc* desc, const Tensor& tensor) {
  Describe(desc, tensor.GetDataType(), tensor.GetOriginFormat(), tensor.GetStorageFormat(),
           tensor.GetExpandDimsType());
}

template <typename Context>
class Built : public BuiltContext {
 public:
  template <typename... Args>
  explicit Built(std::unique_ptr<OpCallState> state, Args... args)
      : state_(std::move(state)), context_(state_.get(), args...) {}
  ~Built() override {
    if (deleter != nullptr) deleter(state_->tilingData);
  }
  void* Get() override { return &context_; }

  std::unique_ptr<uint8_t[]> data;             // of TilingDataSize
  std::vector<std::unique_ptr<Shape>> shapes;  // of ranges
  void (*deleter)(void*) = nullptr;

 private:
  std::unique_ptr<OpCallState> state_;
  Context context_;
};

}  // namespace

class ContextParts {
 public:
  std::string type;
  std::string name;
  bool counted = false;  // by IOInstanceNum
  Side inputs;
  Side outputs;
  std::vector<AttrArg> attrs;
  std::string refused;  // the first thing that cannot be built
  std::vector<Range<Tensor>> ranges;
  const void* compileInfo = nullptr;
  const void* platform = nullptr;
  const ge::char_t* json = "{}";
  int32_t deterministic = 0;
  int32_t deterministicLevel = 0;
  const TilingData* tilingData = nullptr;
  size_t tilingDataSize = 0;  // where tilingData is nullptr
  void (*deleter)(void*) = nullptr;
  const ContinuousVector* workspace = nullptr;

  void Refuse(const std::string& why) {
    if (refused.empty()) refused = why;
  }
  void Take(Side* side, const std::vector<Tensor*>& tensors, const char* what) {
    side->tensors.clear();
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] == nullptr) {
        Refuse(std::string(what) + " " + std::to_string(i) +
               " is nullptr: an absent one has no instance, by IOInstanceNum");
        return;
      }
      side->tensors.push_back(*tensors[i]);
      Describe(&side->Desc(i), *tensors[i]);
    }
  }
  void SetTilingData(const TilingData* data, size_t size, void (*function)(void*)) {
    if (deleter != nullptr) deleter(const_cast<TilingData*>(tilingData));
    tilingData = data;
    tilingDataSize = size;
    deleter = function;
  }
  // nullptr, with the reason reported, when something is missing or does not fit.
  std::unique_ptr<OpCallState> State(const char* builder) {
    if (type.empty() || name.empty()) Refuse("OpType and OpName are not both given");
    if (inputs.instances.empty() || outputs.instances.empty()) {
      Refuse("IONum or IOInstanceNum has to say at least one input and one output");
    }
    auto state = std::make_unique<OpCallState>();
    state->node.type = type.c_str();
    state->node.name = name.c_str();
    Fill(inputs, "inputs", &state->node.inputInstances, &state->node.inputs, &state->inputs);
    Fill(outputs, "outputs", &state->node.outputInstances, &state->node.outputs, &state->outputs);
    for (const AttrArg& attr : attrs) state->node.attrs.Append(aclsim::UntypedBlob(attr));
    state->platform = static_cast<fe::PlatFormInfos*>(const_cast<void*>(platform));
    state->compileInfo = compileInfo;
    if (refused.empty()) return state;
    ReportError("%s of %s: %s", builder, type.empty() ? "an operator" : type.c_str(),
                refused.c_str());
    return nullptr;
  }

 private:
  void Fill(const Side& side, const char* what, std::vector<AnchorInstanceInfo>* instances,
            std::vector<CompileTimeTensorDesc>* descs, std::vector<Tensor>* tensors) {
    uint32_t count = 0;
    for (const uint32_t each : side.instances) {
      instances->emplace_back(count, each);
      count += each;
    }
    if (side.descs.size() > count) {
      Refuse("got " + std::to_string(side.descs.size()) + " " + what +
             ", IONum or IOInstanceNum says " + std::to_string(count));
      return;
    }
    *descs = side.descs;
    descs->resize(count);
    *tensors = side.tensors;
    // Inference has the descriptions alone.
    for (size_t i = tensors->size(); i < count; ++i) {
      const CompileTimeTensorDesc& desc = (*descs)[i];
      tensors->emplace_back(StorageShape(), desc.GetFormat(), desc.GetDataType());
    }
  }
};

// -- what all builders have ----------------------------------------------------------------------

template <typename T>
OpContextBuilderBase<T>::OpContextBuilderBase() : parts_(std::make_unique<ContextParts>()) {}
template <typename T>
OpContextBuilderBase<T>::~OpContextBuilderBase() = default;

template <typename T>
T& OpContextBuilderBase<T>::OpType(const ge::AscendString& type) {
  parts_->type = type.GetString();
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::OpName(const ge::AscendString& name) {
  parts_->name = name.GetString();
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::IONum(size_t inputs, size_t outputs) {
  if (!parts_->counted) {
    parts_->inputs.instances.assign(inputs, 1);
    parts_->outputs.instances.assign(outputs, 1);
  }
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::IOInstanceNum(const std::vector<uint32_t>& inputs,
                                          const std::vector<uint32_t>& outputs) {
  parts_->counted = true;
  parts_->inputs.instances = inputs;
  parts_->outputs.instances = outputs;
  return static_cast<T&>(*this);
}

template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(bool value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kBool;
  arg.intValue = value ? 1 : 0;
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(int64_t value) {
  AttrArg arg;
  arg.intValue = value;
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(float value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kFloat;
  arg.floatValue = static_cast<double>(value);
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(const ge::AscendString& value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kString;
  arg.text = value.GetString();
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(const std::vector<bool>& value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kListBool;
  arg.listInt.assign(value.begin(), value.end());
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(const std::vector<int64_t>& value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kListInt;
  arg.listInt = value;
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(const std::vector<float>& value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kListFloat;
  arg.listFloat = value;
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(const std::vector<ge::AscendString>&) {
  parts_->Refuse("attribute " + std::to_string(parts_->attrs.size()) +
                 " is a list of strings, which RuntimeAttrs of the simulator cannot hand out");
  return static_cast<T&>(*this);
}
template <typename T>
T& OpContextBuilderBase<T>::AppendAttr(const std::vector<std::vector<int64_t>>& value) {
  AttrArg arg;
  arg.kind = AttrArg::Kind::kListListInt;
  arg.listListInt = value;
  parts_->attrs.push_back(std::move(arg));
  return static_cast<T&>(*this);
}

template class OpContextBuilderBase<OpTilingContextBuilder>;
template class OpContextBuilderBase<OpTilingParseContextBuilder>;
template class OpContextBuilderBase<OpInferShapeContextBuilder>;
template class OpContextBuilderBase<OpInferDataTypeContextBuilder>;
template class OpContextBuilderBase<OpInferShapeRangeContextBuilder>;

// -- tiling --------------------------------------------------------------------------------------

OpTilingContextBuilder::OpTilingContextBuilder() = default;
OpTilingContextBuilder::~OpTilingContextBuilder() { parts_->SetTilingData(nullptr, 0, nullptr); }

OpTilingContextBuilder& OpTilingContextBuilder::CompileInfo(const void* compileInfo) {
  parts_->compileInfo = compileInfo;
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::PlatformInfo(const void* platformInfo) {
  parts_->platform = platformInfo;
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::Deterministic(int32_t deterministic) {
  if (deterministic == 0 || deterministic == 1) {
    parts_->deterministic = deterministic;
  } else {
    parts_->Refuse("Deterministic: got " + std::to_string(deterministic) + ", want 0 or 1");
  }
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::DeterministicLevel(int32_t level) {
  if (level >= 0 && level <= 3) {
    parts_->deterministicLevel = level;
  } else {
    parts_->Refuse("DeterministicLevel: got " + std::to_string(level) + ", want 0 to 3");
  }
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::TilingData(const gert::TilingData* data,
                                                           void (*deleter)(void*)) {
  parts_->SetTilingData(data, 0, deleter);
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::TilingDataSize(size_t capacity) {
  parts_->SetTilingData(nullptr, capacity, nullptr);
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::Workspace(const ContinuousVector* sizes) {
  parts_->workspace = sizes;
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::InputTensors(const std::vector<Tensor*>& tensors) {
  parts_->Take(&parts_->inputs, tensors, "input");
  return *this;
}
OpTilingContextBuilder& OpTilingContextBuilder::OutputTensors(const std::vector<Tensor*>& tensors) {
  parts_->Take(&parts_->outputs, tensors, "output");
  return *this;
}

ContextHolder<TilingContext> OpTilingContextBuilder::Build() {
  if (parts_->compileInfo == nullptr) parts_->Refuse("CompileInfo is not given");
  if (parts_->platform == nullptr) parts_->Refuse("PlatformInfo is not given");
  std::unique_ptr<OpCallState> state = parts_->State("OpTilingContextBuilder");
  if (state == nullptr) return {};
  state->deterministic = parts_->deterministic;
  state->deterministicLevel = parts_->deterministicLevel;
  state->tilingData = const_cast<gert::TilingData*>(parts_->tilingData);
  state->workspaces = const_cast<ContinuousVector*>(parts_->workspace);
  std::unique_ptr<uint8_t[]> data;
  if (parts_->tilingDataSize > 0) {
    data = gert::TilingData::CreateCap(parts_->tilingDataSize);
    state->tilingData = reinterpret_cast<gert::TilingData*>(data.get());
  }
  auto built = std::make_unique<Built<TilingContext>>(std::move(state));
  built->data = std::move(data);
  built->deleter = std::exchange(parts_->deleter, nullptr);
  return ContextHolder<TilingContext>(std::move(built));
}

OpTilingParseContextBuilder::OpTilingParseContextBuilder() = default;
OpTilingParseContextBuilder::~OpTilingParseContextBuilder() = default;

OpTilingParseContextBuilder& OpTilingParseContextBuilder::InputTensorDesc(
    size_t index, ge::DataType dataType, ge::Format originFormat, ge::Format storageFormat,
    const ExpandDimsType& expandDims) {
  Describe(&parts_->inputs.Desc(index), dataType, originFormat, storageFormat, expandDims);
  return *this;
}
OpTilingParseContextBuilder& OpTilingParseContextBuilder::OutputTensorDesc(
    size_t index, ge::DataType dataType, ge::Format originFormat, ge::Format storageFormat,
    const ExpandDimsType& expandDims) {
  Describe(&parts_->outputs.Desc(index), dataType, originFormat, storageFormat, expandDims);
  return *this;
}
OpTilingParseContextBuilder& OpTilingParseContextBuilder::CompiledJson(const ge::char_t* json) {
  parts_->json = json;
  return *this;
}
OpTilingParseContextBuilder& OpTilingParseContextBuilder::CompiledInfo(const void* compileInfo) {
  parts_->compileInfo = compileInfo;
  return *this;
}
OpTilingParseContextBuilder& OpTilingParseContextBuilder::PlatformInfo(const void* platformInfo) {
  parts_->platform = platformInfo;
  return *this;
}
ContextHolder<TilingParseContext> OpTilingParseContextBuilder::Build() {
  std::unique_ptr<OpCallState> state = parts_->State("OpTilingParseContextBuilder");
  if (state == nullptr) return {};
  state->compiledJson = parts_->json;
  return ContextHolder<TilingParseContext>(std::make_unique<Built<TilingParseContext>>(
      std::move(state), const_cast<void*>(parts_->compileInfo)));
}

// -- inference -----------------------------------------------------------------------------------

OpInferShapeContextBuilder::OpInferShapeContextBuilder() = default;
OpInferShapeContextBuilder::~OpInferShapeContextBuilder() = default;

OpInferShapeContextBuilder& OpInferShapeContextBuilder::OutputTensorDesc(
    size_t index, ge::DataType dataType, ge::Format originFormat, ge::Format storageFormat,
    const ExpandDimsType& expandDims) {
  Describe(&parts_->outputs.Desc(index), dataType, originFormat, storageFormat, expandDims);
  return *this;
}
OpInferShapeContextBuilder& OpInferShapeContextBuilder::InputTensors(
    const std::vector<Tensor*>& tensors) {
  parts_->Take(&parts_->inputs, tensors, "input");
  return *this;
}
ContextHolder<InferShapeContext> OpInferShapeContextBuilder::Build() {
  std::unique_ptr<OpCallState> state = parts_->State("OpInferShapeContextBuilder");
  if (state == nullptr) return {};
  return ContextHolder<InferShapeContext>(
      std::make_unique<Built<InferShapeContext>>(std::move(state)));
}

OpInferDataTypeContextBuilder::OpInferDataTypeContextBuilder() = default;
OpInferDataTypeContextBuilder::~OpInferDataTypeContextBuilder() = default;

OpInferDataTypeContextBuilder& OpInferDataTypeContextBuilder::InputTensorDesc(
    size_t index, ge::DataType dataType, ge::Format originFormat, ge::Format storageFormat,
    const ExpandDimsType& expandDims) {
  Describe(&parts_->inputs.Desc(index), dataType, originFormat, storageFormat, expandDims);
  return *this;
}
OpInferDataTypeContextBuilder& OpInferDataTypeContextBuilder::OutputTensorDesc(
    size_t index, ge::Format originFormat, ge::Format storageFormat,
    const ExpandDimsType& expandDims) {
  Describe(&parts_->outputs.Desc(index), ge::DT_UNDEFINED, originFormat, storageFormat, expandDims);
  return *this;
}
ContextHolder<InferDataTypeContext> OpInferDataTypeContextBuilder::Build() {
  std::unique_ptr<OpCallState> state = parts_->State("OpInferDataTypeContextBuilder");
  if (state == nullptr) return {};
  return ContextHolder<InferDataTypeContext>(
      std::make_unique<Built<InferDataTypeContext>>(std::move(state)));
}

OpInferShapeRangeContextBuilder::OpInferShapeRangeContextBuilder() = default;
OpInferShapeRangeContextBuilder::~OpInferShapeRangeContextBuilder() = default;

OpInferShapeRangeContextBuilder& OpInferShapeRangeContextBuilder::OutputTensorDesc(
    size_t index, ge::DataType dataType, ge::Format originFormat, ge::Format storageFormat,
    const ExpandDimsType& expandDims) {
  Describe(&parts_->outputs.Desc(index), dataType, originFormat, storageFormat, expandDims);
  return *this;
}
OpInferShapeRangeContextBuilder& OpInferShapeRangeContextBuilder::InputTensorsRange(
    const std::vector<Range<Tensor>*>& ranges) {
  std::vector<Tensor*> least;
  parts_->ranges.clear();
  for (Range<Tensor>* range : ranges) {
    if (range == nullptr || range->GetMin() == nullptr || range->GetMax() == nullptr) {
      parts_->Refuse("a range of InputTensorsRange has no minimum or no maximum");
      return *this;
    }
    if (range->GetMin()->GetDataType() != range->GetMax()->GetDataType()) {
      parts_->Refuse("minimum and maximum of a range of InputTensorsRange have unlike dtypes");
    }
    least.push_back(range->GetMin());
    parts_->ranges.push_back(*range);
  }
  parts_->Take(&parts_->inputs, least, "input");
  return *this;
}
ContextHolder<InferShapeRangeContext> OpInferShapeRangeContextBuilder::Build() {
  std::unique_ptr<OpCallState> state = parts_->State("OpInferShapeRangeContextBuilder");
  if (state == nullptr) return {};
  state->inputRanges = parts_->ranges;
  for (Range<Tensor>& range : state->inputRanges) {
    state->inputShapeRanges.emplace_back(&range.GetMin()->MutableOriginShape(),
                                         &range.GetMax()->MutableOriginShape());
  }
  std::vector<std::unique_ptr<Shape>> shapes;
  for (size_t i = 0; i < state->outputs.size(); ++i) {
    shapes.push_back(std::make_unique<Shape>());
    shapes.push_back(std::make_unique<Shape>());
    state->outputShapeRanges.emplace_back(shapes[2 * i].get(), shapes[2 * i + 1].get());
  }
  auto built = std::make_unique<Built<InferShapeRangeContext>>(std::move(state));
  built->shapes = std::move(shapes);
  return ContextHolder<InferShapeRangeContext>(std::move(built));
}

}  // namespace gert
