// SPDX-License-Identifier: Apache-2.0
// aclsimInferShape: an operator's inference without a call of it.
#include <cstring>

#include "aclsim/aclsim.h"
#include "opbase/package.h"
#include "opbase/register/op_call.h"
#include "opdev/op_errno.h"
#include "runtime/runtime.h"

namespace {

constexpr int32_t kInferShapeError = 561001;

aclsim::TensorArg ToArg(const aclsimHostTensor& tensor) {
  aclsim::TensorArg arg;
  for (uint64_t i = 0; i < tensor.desc.rank; ++i) arg.origin.AppendDim(tensor.desc.dims[i]);
  arg.storage = arg.origin;
  arg.dataType = static_cast<ge::DataType>(tensor.desc.dtype);
  arg.hostData = tensor.data;
  return arg;
}

std::string ToJson(const aclsim::OpCall& call) {
  std::string text = "[";
  for (const auto& param : call.outputs) {
    text += text.size() == 1 ? "[" : ", [";
    for (size_t i = 0; i < param.size(); ++i) {
      const gert::Shape& shape = param[i].origin;
      text += std::string(i == 0 ? "" : ", ") + "{\"shape\": [";
      for (size_t d = 0; d < shape.GetDimNum(); ++d) {
        text += (d == 0 ? "" : ", ") + std::to_string(shape.GetDim(d));
      }
      text += "], \"dtype\": " + std::to_string(param[i].dataType) + "}";
    }
    text += "]";
  }
  return text + "]";
}

}  // namespace

extern "C" int32_t aclsimInferShape(const char* opType, const aclsimHostTensor* inputs,
                                    const uint64_t* inputCounts, size_t inputParams,
                                    const uint64_t* outputCounts, size_t outputParams,
                                    const aclsimAttr* attrs, size_t attrCount, char* json,
                                    size_t jsonSize) {
  if (opType == nullptr) {
    aclsim::ReportError("aclsimInferShape: opType is a null pointer");
    return ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
  }
  int32_t missing = ACLNN_SUCCESS;
  const std::vector<op::internal::FoundOp> found = op::internal::FindOpInPackages(opType, &missing);
  if (found.empty()) return missing;
  aclsim::OpCall call;
  call.type = opType;
  for (size_t p = 0; p < inputParams; ++p) {
    call.inputs.emplace_back();
    for (uint64_t i = 0; i < inputCounts[p]; ++i) call.inputs.back().push_back(ToArg(*inputs++));
  }
  for (size_t p = 0; p < outputParams; ++p) call.outputs.emplace_back(outputCounts[p]);
  for (size_t i = 0; i < attrCount; ++i) call.attrs.push_back(aclsim::ToAttrArg(attrs[i]));
  const int32_t status = aclsim::RunInferShape(*found.front().entry, &call);
  if (status != 0) return status;
  const std::string text = ToJson(call);
  if (text.size() >= jsonSize) {
    aclsim::ReportError("aclsimInferShape: %s needs a buffer of %zu bytes", opType,
                        text.size() + 1);
    return kInferShapeError;
  }
  std::memcpy(json, text.c_str(), text.size() + 1);
  return 0;
}
