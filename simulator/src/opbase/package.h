// SPDX-License-Identifier: Apache-2.0
// Operator packages: where they are looked for, and the kernel libraries in them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "opbase/register/op_call.h"
#include "opbase/register/registry.h"
#include "opdev/op_arg_def.h"
#include "opdev/op_executor.h"

namespace op::internal {

// An operator as one package has it.
struct FoundOp {
  gert::OpImplEntry* entry = nullptr;
  std::string packageRoot;        // empty: the process itself
  void* tilingLibrary = nullptr;  // dlopen handle; nullptr: the process itself
};

// Every package that has the operator, in order of priority: ASCEND_CUSTOM_OPP_PATH,
// ASCEND_OPP_PATH, the toolkit's own; then the process. Empty with 561107 (no package anywhere) or
// 561003 (not in any) in *status and a report.
// searched: gets the packages that were looked at, and nothing is reported.
std::vector<FoundOp> FindOpInPackages(const std::string& opType, int32_t* status,
                                      std::string* searched = nullptr);

// SoftmaxGrad -> softmax_grad
std::string SnakeCase(const std::string& opType);

// The operator's dtypes, parameter by parameter, with absent ones (DT_UNDEFINED) filled in from its
// definition for the current SoC. False with a reason when the definition rules the call out.
// Without a definition everything goes.
bool ResolveTypes(const FoundOp& op, const std::vector<ge::DataType>& inputs,
                  const std::vector<ge::DataType>& outputs, std::vector<ge::DataType>* types,
                  std::vector<std::string>* names, std::string* why);

struct KernelEntry {
  const void* entry = nullptr;
  std::vector<std::string> names;             // of inputs, then outputs, as the definition has them
  std::optional<std::vector<uint64_t>> keys;  // tiling keys; none: the library does not say
};

// "(float32, none) -> (float32)"
std::string TypeText(const std::vector<ge::DataType>& inputs,
                     const std::vector<ge::DataType>& outputs);

// The kernel for these dtypes on the current SoC. 0, or 561003 with a report of everything that was
// tried.
int32_t FindKernel(const std::string& opType, const std::vector<FoundOp>& candidates,
                   const std::vector<ge::DataType>& inputs,
                   const std::vector<ge::DataType>& outputs, KernelEntry* kernel,
                   const FoundOp** chosen);

// The tiling data as a JSON object, from the operator's <OpType>TilingJson function; empty when it
// has none.
std::string TilingJson(const FoundOp& op, const std::vector<uint8_t>& data);

// The choices of this thread's last tiling as a JSON array, from the library's function TilingChoicesJson; empty where there
// is none.
std::string TilingChoices(const FoundOp& op);

// One launch, and one inference, of a call whose attributes are values of any kind in the order of the definition.
aclnnStatus AddKernelLaunch(const std::string& type, aclOpExecutor* executor,
                            const OpArgGroup& inputs, const OpArgGroup& outputs,
                            const std::vector<aclsim::AttrArg>& attrs);
aclnnStatus InferShape(const std::string& type, const OpArgGroup& inputs, const OpArgGroup& outputs,
                       const std::vector<aclsim::AttrArg>& attrs);

}  // namespace op::internal
