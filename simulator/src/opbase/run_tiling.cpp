// SPDX-License-Identifier: Apache-2.0
// aclsimRunTiling: an operator's tiling without data and without a launch.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>

#include "aclsim/aclsim.h"
#include "opbase/package.h"
#include "opdev/op_errno.h"
#include "runtime/runtime.h"
#include "soc/soc.h"

namespace {

std::vector<std::vector<aclsim::TensorArg>> ToArgs(const aclsimTensorDesc* tensors, size_t count) {
  std::vector<std::vector<aclsim::TensorArg>> args(count);
  for (size_t i = 0; i < count; ++i) {
    if (tensors[i].dtype < 0) continue;  // an absent optional tensor
    aclsim::TensorArg arg;
    for (uint64_t d = 0; d < tensors[i].rank; ++d) arg.origin.AppendDim(tensors[i].dims[d]);
    arg.storage = arg.origin;
    arg.dataType = static_cast<ge::DataType>(tensors[i].dtype);
    args[i].push_back(arg);
  }
  return args;
}

std::vector<ge::DataType> TypesOf(const std::vector<std::vector<aclsim::TensorArg>>& params) {
  std::vector<ge::DataType> types;
  for (const auto& param : params) {
    types.push_back(param.empty() ? ge::DT_UNDEFINED : param[0].dataType);
  }
  return types;
}

int32_t Run(const char* opType, const aclsim::OpCall& call, char* json, size_t jsonSize) {
  int32_t status = ACLNN_SUCCESS;
  const std::vector<op::internal::FoundOp> found = op::internal::FindOpInPackages(opType, &status);
  if (found.empty()) return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
  const op::internal::FoundOp* op = nullptr;
  std::string why;
  for (const op::internal::FoundOp& candidate : found) {
    std::vector<ge::DataType> types;
    std::vector<std::string> names;
    if (op == nullptr && op::internal::ResolveTypes(candidate, TypesOf(call.inputs),
                                                    TypesOf(call.outputs), &types, &names, &why)) {
      op = &candidate;
    }
  }
  if (op == nullptr) {
    aclsim::ReportError("%s does not run on %s: %s", opType, aclsim::CurrentSoc().name.c_str(),
                        why.c_str());
    return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
  }
  aclsim::TilingResult tiling;
  status = aclsim::RunTiling(*op->entry, call, &tiling);
  if (status != ACLNN_SUCCESS) return status;
  std::string fields = op::internal::TilingJson(*op, tiling.data);
  if (fields.empty()) fields = aclsim::TilingFields(op->entry->type, tiling.data);
  if (fields.empty()) fields = "{}";
  std::string choices = op::internal::TilingChoices(*op);
  if (!choices.empty()) choices = ",\"choices\":" + choices;
  const int length =
      std::snprintf(json, jsonSize,
                    "{\"op\":\"%s\",\"soc\":\"%s\",\"blockDim\":%" PRIu32 ",\"tilingKey\":%" PRIu64
                    ",\"workspaceBytes\":%" PRIu64 ",\"tiling\":%s%s}",
                    opType, aclsim::CurrentSoc().name.c_str(), tiling.blockDim, tiling.tilingKey,
                    tiling.workspaceBytes, fields.c_str(), choices.c_str());
  if (length >= 0 && static_cast<size_t>(length) < jsonSize) return ACLNN_SUCCESS;
  aclsim::ReportError("aclsimRunTiling: the result takes %d bytes, the buffer has %zu", length + 1,
                      jsonSize);
  return ACLNN_ERR_PARAM_INVALID;
}

}  // namespace

namespace {

std::vector<std::vector<aclsim::TensorArg>> ToArgs(const aclsimHostTensor* tensors,
                                                   const uint64_t* counts, size_t params) {
  std::vector<std::vector<aclsim::TensorArg>> args(params);
  for (size_t p = 0; p < params; ++p) {
    for (uint64_t i = 0; i < counts[p]; ++i, ++tensors) {
      std::vector<std::vector<aclsim::TensorArg>> one = ToArgs(&tensors->desc, 1);
      if (one[0].empty()) continue;
      one[0][0].hostData = tensors->data;
      args[p].push_back(std::move(one[0][0]));
    }
  }
  return args;
}

// Runs a call that is made by fill.
template <typename Fill>
int32_t RunCall(const char* api, const char* opType, const aclsimAttr* attrs, size_t attrCount,
                char* json, size_t jsonSize, Fill&& fill) {
  try {
    aclsim::OpCall call;
    call.type = opType;
    fill(&call);
    for (size_t i = 0; i < attrCount; ++i) call.attrs.push_back(aclsim::ToAttrArg(attrs[i]));
    return Run(opType, call, json, jsonSize);
  } catch (const std::exception& error) {
    aclsim::ReportError("%s: %s", api, error.what());
    return ACLNN_ERR_INNER;
  }
}

}  // namespace

extern "C" int32_t aclsimRunTilingOn(const char* opType, const aclsimHostTensor* inputs,
                                     const uint64_t* inputCounts, size_t inputParams,
                                     const aclsimHostTensor* outputs, const uint64_t* outputCounts,
                                     size_t outputParams, const aclsimAttr* attrs, size_t attrCount,
                                     char* json, size_t jsonSize) {
  if (opType == nullptr || (inputCounts == nullptr && inputParams > 0) ||
      (outputCounts == nullptr && outputParams > 0) || (attrs == nullptr && attrCount > 0) ||
      json == nullptr || jsonSize == 0) {
    aclsim::ReportErrorText("aclsimRunTilingOn: an argument is NULL");
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  return RunCall(__func__, opType, attrs, attrCount, json, jsonSize, [&](aclsim::OpCall* call) {
    call->inputs = ToArgs(inputs, inputCounts, inputParams);
    call->outputs = ToArgs(outputs, outputCounts, outputParams);
  });
}

extern "C" int32_t aclsimRunTiling(const char* opType, const aclsimTensorDesc* inputs,
                                   size_t inputCount, const aclsimTensorDesc* outputs,
                                   size_t outputCount, const aclsimAttr* attrs, size_t attrCount,
                                   char* json, size_t jsonSize) {
  if (opType == nullptr || (inputs == nullptr && inputCount > 0) ||
      (outputs == nullptr && outputCount > 0) || (attrs == nullptr && attrCount > 0) ||
      json == nullptr || jsonSize == 0) {
    aclsim::ReportErrorText("aclsimRunTiling: an argument is NULL");
    return ACLNN_ERR_PARAM_NULLPTR;
  }
  return RunCall(__func__, opType, attrs, attrCount, json, jsonSize, [&](aclsim::OpCall* call) {
    call->inputs = ToArgs(inputs, inputCount);
    call->outputs = ToArgs(outputs, outputCount);
  });
}
