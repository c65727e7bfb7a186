// SPDX-License-Identifier: Apache-2.0
// This file has what the operator definitions share: floating-point tensors in ND, a result like
// the first input, a kernel for dynamic shapes.
#ifndef OP_HOST_COMMON_GRAD_OP_DEF_H_
#define OP_HOST_COMMON_GRAD_OP_DEF_H_

#include <initializer_list>
#include <vector>

#include "log/log.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"

namespace ops {

inline ge::graphStatus InferShapeLikeFirst(gert::InferShapeContext* context) {
  const gert::Shape* first = context->GetInputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, first);
  gert::Shape* result = context->GetOutputShape(0);
  OP_CHECK_NULL_WITH_CONTEXT(context, result);
  *result = *first;
  return ge::GRAPH_SUCCESS;
}

inline ge::graphStatus InferDataTypeLikeFirst(gert::InferDataTypeContext* context) {
  return context->SetOutputDataType(0, context->GetInputDataType(0));
}

// Column i of all tensors is one combination of dtypes.
inline OpParamDef& DescribeTensor(OpParamDef& tensor, const std::vector<ge::DataType>& dtypes) {
  const std::vector<ge::Format> formats(dtypes.size(), ge::FORMAT_ND);
  return tensor.ParamType(REQUIRED).DataType(dtypes).Format(formats).UnknownShapeFormat(formats);
}

// `owner` is an OpDef, or the OpAICoreConfig of a SoC that takes other dtypes.
template <typename Owner>
void DescribeTensors(Owner& owner, std::initializer_list<const char*> inputs, const char* output,
                     const std::vector<ge::DataType>& dtypes) {
  for (const char* input : inputs) {
    DescribeTensor(owner.Input(input), dtypes).AutoContiguous();
  }
  DescribeTensor(owner.Output(output), dtypes);
}

inline OpAICoreConfig DynamicKernel(const char* file) {
  OpAICoreConfig config;
  config.DynamicCompileStaticFlag(true)
      .DynamicFormatFlag(false)
      .DynamicRankSupportFlag(true)
      .DynamicShapeSupportFlag(true)
      .NeedCheckSupportFlag(false)
      .ExtendCfgInfo("opFile.value", file);
  return config;
}

}  // namespace ops

#endif  // OP_HOST_COMMON_GRAD_OP_DEF_H_
