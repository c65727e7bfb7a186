// SPDX-License-Identifier: Apache-2.0
// Registration of tiling and inference functions: IMPL_OP_OPTILING(Op).Tiling(f).TilingParse<T>(g),
// IMPL_OP_INFERSHAPE, IMPL_OP.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "exe_graph/runtime/base_type.h"
#include "exe_graph/runtime/infer_datatype_context.h"
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/infer_shape_range_context.h"
#include "exe_graph/runtime/tiling_context.h"
#include "exe_graph/runtime/tiling_parse_context.h"
#include "graph/ascend_string.h"
#include "graph/compiler_def.h"
#include "graph/types.h"
#include "securec.h"

namespace gert {

enum TilingPlacement { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

struct OpImplEntry;  // the simulator's record of one operator

class OpImplRegisterV2 {
 public:
  using InferShapeKernelFunc = UINT32 (*)(InferShapeContext*);
  using InferShapeRangeKernelFunc = UINT32 (*)(InferShapeRangeContext*);
  using InferDataTypeKernelFunc = UINT32 (*)(InferDataTypeContext*);
  using TilingKernelFunc = UINT32 (*)(TilingContext*);
  using TilingParseFunc = UINT32 (*)(TilingParseContext*);
  using KernelFunc = UINT32 (*)(KernelContext*);
  using GenSimplifiedKeyKernelFunc = UINT32 (*)(TilingContext*, ge::char_t*);
  using CompileInfoCreatorFunc = void* (*)();
  using CompileInfoDeleterFunc = void (*)(void*);

  explicit OpImplRegisterV2(const ge::char_t* opType);

  OpImplRegisterV2& InferShape(InferShapeKernelFunc func);
  OpImplRegisterV2& InferShapeRange(InferShapeRangeKernelFunc func);
  OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc func);
  OpImplRegisterV2& InferOutDataTypeSameWithFirstInput();
  OpImplRegisterV2& Tiling(TilingKernelFunc func, size_t maxTilingDataSize = 2048);
  template <typename T>
  OpImplRegisterV2& TilingParse(TilingParseFunc func) {
    return TilingParse(
        func, []() -> void* { return new T(); }, [](void* info) { delete static_cast<T*>(info); });
  }
  template <typename T>
  OpImplRegisterV2& TilingParse(KernelFunc func) {
    return TilingParse<T>(reinterpret_cast<TilingParseFunc>(func));
  }
  OpImplRegisterV2& InputsDataDependency(std::initializer_list<int32_t> inputs);
  OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs);
  OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs,
                                               std::initializer_list<TilingPlacement> placements);
  OpImplRegisterV2& HostInputs(std::initializer_list<int32_t> inputs);
  OpImplRegisterV2& OutputShapeDependOnCompute(std::initializer_list<int32_t> outputs);
  OpImplRegisterV2& NullableOutputs(std::initializer_list<int32_t> outputs);
  OpImplRegisterV2& GenSimplifiedKey(GenSimplifiedKeyKernelFunc func);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name, int64_t value);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name, const ge::char_t* value);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name, ge::float32_t value);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name, bool value);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name, const std::vector<int64_t>& value);
  OpImplRegisterV2& PrivateAttr(const ge::char_t* name, const std::vector<ge::float32_t>& value);

 private:
  OpImplRegisterV2& TilingParse(TilingParseFunc func, CompileInfoCreatorFunc creator,
                                CompileInfoDeleterFunc deleter);

  OpImplEntry* entry_;
};

using OpImplRegister = OpImplRegisterV2;

}  // namespace gert

#define IMPL_OP_COUNTER(opType, name, counter) \
  static gert::OpImplRegisterV2 VAR_UNUSED name##counter = gert::OpImplRegisterV2(#opType)
#define IMPL_OP_COUNTER_NUMBER(opType, name, counter) IMPL_OP_COUNTER(opType, name, counter)
#define IMPL_OP(opType) IMPL_OP_COUNTER_NUMBER(opType, op_impl_register_##opType, __COUNTER__)
#define IMPL_OP_INFERSHAPE(opType)                                                \
  static gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_infershape_##opType = \
      gert::OpImplRegisterV2(#opType)
#define IMPL_OP_OPTILING(opType)                                                \
  static gert::OpImplRegisterV2 VAR_UNUSED op_impl_register_optiling_##opType = \
      gert::OpImplRegisterV2(#opType)
