// SPDX-License-Identifier: Apache-2.0
// One operator call as tiling and inference see it, and the functions that run them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aclsim/aclsim.h"
#include "engine/tiling_checks.h"
#include "exe_graph/runtime/runtime_attrs.h"
#include "opbase/register/registry.h"

namespace aclsim {

struct TensorArg {
  gert::Shape origin;
  gert::Shape storage;
  ge::DataType dataType = ge::DT_UNDEFINED;
  ge::Format originFormat = ge::FORMAT_ND;
  ge::Format storageFormat = ge::FORMAT_ND;
  const void* hostData = nullptr;  // of a host tensor, so that tiling can read values
};

struct AttrArg {
  enum class Kind { kInt, kFloat, kBool, kString, kListInt, kListFloat, kListBool, kListListInt };
  Kind kind = Kind::kInt;
  int64_t intValue = 0;  // also bool
  double floatValue = 0;
  bool isDouble = false;  // contexts hand out all of its eight bytes
  std::string text;
  std::vector<int64_t> listInt;  // also list of bool
  std::vector<float> listFloat;
  std::vector<std::vector<int64_t>> listListInt;
};

AttrArg ToAttrArg(const aclsimAttr& attr);
// The argument as contexts hand it out when no definition says its type: its own decides.
std::unique_ptr<uint8_t[]> UntypedBlob(const AttrArg& arg);

struct OpCall {
  std::string type;
  // By parameter: no tensor for an absent optional one, any number for a dynamic one.
  std::vector<std::vector<TensorArg>> inputs;
  std::vector<std::vector<TensorArg>> outputs;
  std::vector<AttrArg> attrs;
};

struct TilingResult {
  std::vector<uint8_t> data;
  uint64_t tilingKey = 0;
  uint32_t blockDim = 0;
  bool blockDimSet = false;
  TilingPlaces places;  // where it was set, or else the tiling function
  uint64_t workspaceBytes = 0;
  bool needAtomic = false;  // the kernel adds to what its outputs hold
};

// Something that tiling, inference or a definition has wrong, whatever the call.
struct HostFault {
  std::string kind;
  std::string op;
  std::string instruction;
  std::vector<void*> place;  // as CaptureStack
  std::string detail;
  std::string advice;
};
// As an error of the thread, and as a finding.
void ReportHostFault(const HostFault& fault);

// Tiling data as a JSON object, by the class that is registered for the operator; fields of nested structs as struct.field. Empty
// without such a class.
std::string TilingFields(const std::string& opType, const std::vector<uint8_t>& data);

// Both return 0 or an aclnn status with the reason reported; what user code reported or threw comes
// with it.
// fill: each byte of the buffer for the tiling data before.
int32_t RunTiling(gert::OpImplEntry& op, const OpCall& call, TilingResult* result,
                  uint8_t fill = 0);
// Says which bytes of the tiling data the tiling function has left as they were; with BufferOfTiling() == kFilled these become
// others in the result.
// `text` gives tiling data as a JSON object, or nothing.
void WatchTiling(gert::OpImplEntry& op, const OpCall& call, TilingResult* result,
                 const std::function<std::string(const std::vector<uint8_t>&)>& text);
// Writes shapes, and dtypes where a function infers them, to call->outputs.
int32_t RunInferShape(gert::OpImplEntry& op, OpCall* call);

}  // namespace aclsim
