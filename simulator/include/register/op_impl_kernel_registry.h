// SPDX-License-Identifier: Apache-2.0
// The functions of an operator, as its registration left them.
#pragma once

#include <cstddef>

#include "register/op_impl_registry.h"

namespace gert {

class OpImplKernelRegistry {
 public:
  // nullptr for what was not registered.
  struct OpImplFunctions {
    OpImplRegisterV2::InferShapeKernelFunc infer_shape = nullptr;
    OpImplRegisterV2::InferShapeRangeKernelFunc infer_shape_range = nullptr;
    OpImplRegisterV2::InferDataTypeKernelFunc infer_datatype = nullptr;
    OpImplRegisterV2::TilingKernelFunc tiling = nullptr;
    OpImplRegisterV2::KernelFunc tiling_parse = nullptr;
    OpImplRegisterV2::CompileInfoCreatorFunc compile_info_creator = nullptr;
    OpImplRegisterV2::CompileInfoDeleterFunc compile_info_deleter = nullptr;
    OpImplRegisterV2::GenSimplifiedKeyKernelFunc gen_simplifiedkey = nullptr;
    size_t max_tiling_data_size = 0;
  };
  struct OpImplFunctionsV2 : OpImplFunctions {};
};

}  // namespace gert
