// SPDX-License-Identifier: Apache-2.0
// Calls l0op functions by name on device tensors of its caller: LevelZero(name, inputs, numbers, out).
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aclnn_kernels/cast.h"
#include "aclnn_kernels/contiguous.h"
#include "aclnn_kernels/pad.h"
#include "aclnn_kernels/transdata.h"
#include "level0/abs.h"
#include "level0/sort.h"
#include "opdev/op_dfx.h"

namespace {

using Tensors = std::vector<const aclTensor*>;
using Numbers = std::vector<int64_t>;
using Function = std::function<const aclTensor*(const Tensors&, const Numbers&,
                                                const aclTensor* out, aclOpExecutor*)>;
using Binary = const aclTensor* (*)(const aclTensor*, const aclTensor*, aclOpExecutor*);
using Unary = const aclTensor* (*)(const aclTensor*, aclOpExecutor*);
using Along = const aclTensor* (*)(const aclTensor*, const aclIntArray*, bool, aclOpExecutor*);

Function Of(Binary function) {
  return [function](const Tensors& in, const Numbers&, const aclTensor*, aclOpExecutor* executor) {
    return function(in[0], in[1], executor);
  };
}
Function Of(Unary function) {
  return [function](const Tensors& in, const Numbers&, const aclTensor*, aclOpExecutor* executor) {
    return function(in[0], executor);
  };
}
Function Of(Along function) {
  return
      [function](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
        return function(in[0], executor->AllocIntArray(n.data(), n.size()), false, executor);
      };
}

const aclTensor* Host(const Numbers& n, aclOpExecutor* executor) {
  return executor->ConvertToTensor(n.data(), n.size(), op::DataType::DT_INT64);
}

const std::map<std::string, Function> kFunctions = {
    {"Add", Of(l0op::Add)},
    {"Sub", Of(l0op::Sub)},
    {"Mul", Of(l0op::Mul)},
    {"Div", Of(l0op::Div)},
    {"RealDiv", Of(l0op::RealDiv)},
    {"Mod", Of(l0op::Mod)},
    {"Pow", Of(l0op::Pow)},
    {"Maximum", Of(l0op::Maximum)},
    {"Minimum", Of(l0op::Minimum)},
    {"Equal", Of(l0op::Equal)},
    {"NotEqual", Of(l0op::NotEqual)},
    {"Greater", Of(l0op::Greater)},
    {"GreaterEqual", Of(l0op::GreaterEqual)},
    {"Less", Of(l0op::Less)},
    {"LessEqual", Of(l0op::LessEqual)},
    {"LogicalAnd", Of(l0op::LogicalAnd)},
    {"LogicalOr", Of(l0op::LogicalOr)},
    {"LogicalNot", Of(l0op::LogicalNot)},
    {"Abs", Of(l0op::Abs)},
    {"Neg", Of(l0op::Neg)},
    {"Exp", Of(l0op::Exp)},
    {"Sqrt", Of(l0op::Sqrt)},
    {"Rsqrt", Of(l0op::Rsqrt)},
    {"OnesLike", Of(l0op::OnesLike)},
    {"ReduceMean", Of(static_cast<Along>(l0op::ReduceMean))},
    {"ReduceMax", Of(static_cast<Along>(l0op::ReduceMax))},
    {"ReduceMin", Of(static_cast<Along>(l0op::ReduceMin))},
    {"ReduceAny", Of(l0op::ReduceAny)},
    {"Log", [](const Tensors& in, const Numbers&, const aclTensor*,
               aclOpExecutor* executor) { return l0op::Log(in[0], -1, 2, 1, executor); }},
    {"Muls", [](const Tensors& in, const Numbers&, const aclTensor*,
                aclOpExecutor* executor) { return l0op::Muls(in[0], -3, executor); }},
    {"Axpy", [](const Tensors& in, const Numbers&, const aclTensor*,
                aclOpExecutor* executor) { return l0op::Axpy(in[0], in[1], 2, executor); }},
    {"SelectV2",
     [](const Tensors& in, const Numbers&, const aclTensor*, aclOpExecutor* executor) {
       return l0op::SelectV2(in[0], in[1], in[2], executor);
     }},
    {"MaskedFill",
     [](const Tensors& in, const Numbers&, const aclTensor*, aclOpExecutor* executor) {
       return l0op::MaskedFill(in[0], in[1], in[2], executor);
     }},
    {"UnsqueezeNd",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       return l0op::UnsqueezeNd(in[0], executor->AllocIntArray(n.data(), n.size()), executor);
     }},
    {"SqueezeNd",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       return l0op::SqueezeNd(in[0], executor->AllocIntArray(n.data(), n.size()), executor);
     }},
    {"Expand",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       return l0op::Expand(in[0], executor->AllocIntArray(n.data(), n.size()), executor);
     }},
    {"ConcatD",
     [](const Tensors& in, const Numbers& n, const aclTensor* out, aclOpExecutor* executor) {
       const aclTensorList* list = executor->AllocTensorList(in.data(), in.size());
       return const_cast<const aclTensor*>(l0op::ConcatD(list, n[0], out->GetDataType(), executor));
     }},
    {"SplitV",  // puts the parts together again, the other way round
     [](const Tensors& in, const Numbers& n, const aclTensor*,
        aclOpExecutor* executor) -> const aclTensor* {
       const aclIntArray* sizes = executor->AllocIntArray(n.data() + 1, n.size() - 1);
       const aclTensorList* parts = l0op::SplitV(in[0], sizes, n[0], executor);
       if (parts == nullptr) return nullptr;
       Tensors reverse;
       for (uint64_t i = parts->Size(); i-- > 0;) reverse.push_back((*parts)[i]);
       return l0op::ConcatD(executor->AllocTensorList(reverse.data(), reverse.size()), n[0],
                            executor);
     }},
    {"Pad", [](const Tensors& in, const Numbers& n, const aclTensor*,
               aclOpExecutor* executor) { return l0op::Pad(in[0], Host(n, executor), executor); }},
    {"PadV3",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       const float value = 7;
       const aclTensor* filling = executor->ConvertToTensor(&value, 1, in[0]->GetDataType());
       return l0op::PadV3(in[0], Host(n, executor), filling, "constant", false, executor);
     }},
    {"SortValues",
     [](const Tensors& in, const Numbers& n, const aclTensor*,
        aclOpExecutor* executor) -> const aclTensor* {
       return std::get<0>(
           l0op::Sort(in[0], n[0], n[1] != 0, true, op::DataType::DT_INT32, executor));
     }},
    {"SortPlaces",
     [](const Tensors& in, const Numbers& n, const aclTensor*,
        aclOpExecutor* executor) -> const aclTensor* {
       return std::get<1>(
           l0op::Sort(in[0], n[0], n[1] != 0, true, op::DataType::DT_INT32, executor));
     }},
    {"Arange",
     [](const Tensors&, const Numbers& n, const aclTensor* out, aclOpExecutor* executor) {
       return l0op::Arange(executor->AllocScalar(n[0]), executor->AllocScalar(n[1]),
                           executor->AllocScalar(n[2]), out, n[3] != 0, executor);
     }},
    {"TransData",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       return l0op::TransData(in[0], static_cast<op::Format>(n[0]), 1, executor);
     }},
    {"ThroughBlocks",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       const aclTensor* blocks = l0op::TransData(in[0], static_cast<op::Format>(n[0]), 1, executor);
       return blocks == nullptr ? nullptr
                                : l0op::TransData(blocks, op::Format::FORMAT_ND, 1, executor);
     }},
    {"AddOfBlocks",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       const aclTensor* blocks = l0op::TransData(in[0], static_cast<op::Format>(n[0]), 1, executor);
       return blocks == nullptr ? nullptr : l0op::Add(blocks, in[0], executor);
     }},
    {"CastOfBlocks",
     [](const Tensors& in, const Numbers& n, const aclTensor*, aclOpExecutor* executor) {
       const aclTensor* blocks = l0op::TransData(in[0], static_cast<op::Format>(n[0]), 1, executor);
       return blocks == nullptr ? nullptr : l0op::Cast(blocks, op::DataType::DT_FLOAT, executor);
     }},
};

}  // namespace

extern "C" {

aclnnStatus aclnnLevelZeroGetWorkspaceSize(const char* name, const aclTensorList* inputs,
                                           const aclIntArray* numbers, aclTensor* out,
                                           uint64_t* workspaceSize, aclOpExecutor** executor) {
  L2_DFX_PHASE_1(aclnnLevelZero, DFX_IN(inputs, numbers), DFX_OUT(out));
  auto unique = CREATE_EXECUTOR();
  Tensors tensors;
  for (uint64_t i = 0; i < inputs->Size(); ++i) tensors.push_back((*inputs)[i]);
  const Numbers given(numbers->GetData(), numbers->GetData() + numbers->Size());
  const aclTensor* result = kFunctions.at(name)(tensors, given, out, unique.get());
  CHECK_RET(result != nullptr, ACLNN_ERR_INNER_NULLPTR);
  CHECK_RET(l0op::ViewCopy(result, out, unique.get()) != nullptr, ACLNN_ERR_INNER_NULLPTR);
  *workspaceSize = unique->GetWorkspaceSize();
  unique.ReleaseTo(executor);
  return ACLNN_SUCCESS;
}

aclnnStatus aclnnLevelZero(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                           aclrtStream stream) {
  L2_DFX_PHASE_2(aclnnLevelZero);
  return CommonOpExecutorRun(workspace, workspaceSize, executor, stream);
}

}  // extern "C"
