// SPDX-License-Identifier: Apache-2.0
// What a registered tiling function calls: TileAlongAxis or TileElementwise does all for most operators. The other functions
// read the facts of the SoC and the inputs from the context, plan, and print tiling data as JSON. The arithmetic of both families
// is in row_reduce_tiling.h and elementwise_tiling.h, which know nothing of a context.
#ifndef OP_HOST_COMMON_TILING_CONTEXT_H_
#define OP_HOST_COMMON_TILING_CONTEXT_H_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/elementwise_tiling.h"
#include "common/row_reduce_tiling.h"
#include "log/log.h"
#include "platform/platform_infos_def.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

// SocName is for messages. It lists the versions that CANN 8.1 names as well: the later ones are
// not worth an #ifdef.
inline const char* SocName(platform_ascendc::SocVersion version) {
  switch (version) {
    case platform_ascendc::SocVersion::ASCEND910B:
      return "ascend910b";
    case platform_ascendc::SocVersion::ASCEND310P:
      return "ascend310p";
    case platform_ascendc::SocVersion::ASCEND910:
      return "ascend910";
    default:
      return "this SoC";
  }
}

// Returns 0 after reporting a dtype that no kernel takes.
inline uint32_t ElementBytes(gert::TilingContext* context, const char* tensor, ge::DataType dtype) {
  switch (dtype) {
    case ge::DT_FLOAT:
      return 4;
    case ge::DT_FLOAT16:
    case ge::DT_BF16:
      return 2;
    default:
      OP_LOGE(context, "dtype %d of %s, wanted FLOAT, FLOAT16 or BF16", static_cast<int>(dtype),
              tensor);
      return 0;
  }
}

// SameInputs are inputs of one shape and one dtype.
struct SameInputs {
  const gert::Shape* shape = nullptr;
  uint32_t elementBytes = 0;
};

// Reads the first inputs, named in their order. Reports what is wrong before it fails.
inline ge::graphStatus ReadSameInputs(gert::TilingContext* context,
                                      const std::vector<const char*>& names, SameInputs* inputs) {
  const gert::CompileTimeTensorDesc* first = nullptr;
  for (size_t i = 0; i < names.size(); ++i) {
    const gert::StorageShape* shape = context->GetInputShape(i);
    OP_CHECK_NULL_WITH_CONTEXT(context, shape);
    const gert::CompileTimeTensorDesc* desc = context->GetInputDesc(i);
    OP_CHECK_NULL_WITH_CONTEXT(context, desc);
    if (i == 0) {
      inputs->shape = &shape->GetStorageShape();
      first = desc;
    } else if (*inputs->shape != shape->GetStorageShape() ||
               first->GetDataType() != desc->GetDataType()) {
      OP_LOGE(context, "%s and %s differ in shape or dtype, wanted the same of both", names[0],
              names[i]);
      return ge::GRAPH_FAILED;
    }
  }
  inputs->elementBytes = ElementBytes(context, names[0], first->GetDataType());
  return inputs->elementBytes == 0 ? ge::GRAPH_FAILED : ge::GRAPH_SUCCESS;
}

inline ge::graphStatus ReadSocFacts(gert::TilingContext* context, SocFacts* soc) {
  fe::PlatFormInfos* platformInfo = context->GetPlatformInfo();
  OP_CHECK_NULL_WITH_CONTEXT(context, platformInfo);
  const platform_ascendc::PlatformAscendC platform(platformInfo);
  const platform_ascendc::SocVersion version = platform.GetSocVersion();
  soc->name = SocName(version);
  soc->cores = platform.GetCoreNumAiv();
  soc->wholeBlocksOnly = version == platform_ascendc::SocVersion::ASCEND310P ||
                         version == platform_ascendc::SocVersion::ASCEND910;
  // The name has to decide: CANN 8.1 has no enumerator for Ascend 950.
  std::string family;
  soc->registers = platformInfo->GetPlatformResWithLock("version", "Short_SoC_version", family) &&
                   (family == "Ascend950" || family == "Ascend910_95");
  soc->eventIds = version == platform_ascendc::SocVersion::ASCEND910 ? 4 : 8;
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, soc->ubBytes);
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::L2, soc->l2Bytes);
  soc->systemWorkspace = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}

struct NoCompileInfo {};

// ParseNothing does nothing: all that a tiling function of these families needs comes with its
// context.
inline ge::graphStatus ParseNothing(gert::TilingParseContext* /* context */) {
  return ge::GRAPH_SUCCESS;
}

// --- Row reductions (row_reduce_context.cpp). What fails is reported first.

// PlanRowReduce plans for the SoC of the context and sets block dim, tiling key and workspace there.
ge::graphStatus PlanRowReduce(gert::TilingContext* context, const char* op, const ReduceView& view,
                              uint32_t elementBytes, RowInputs inputs, RowReducePlan* plan);
// TileAlongAxis does all for an operator whose first two inputs have one shape and dtype, and whose only attribute is the
// axis, as a list of one.
ge::graphStatus TileAlongAxis(gert::TilingContext* context, const char* op,
                              const char* const (&names)[2]);

std::vector<int64_t> Dims(const gert::Shape& shape);

// --- Element-wise operators (elementwise_context.cpp)

// PlanElementwise plans for the SoC of the context. It sets block dim, tiling key and an empty workspace, and fills `data`,
// which may be part of the operator's own struct. The kernel reads `inputs` tensors.
ge::graphStatus PlanElementwise(gert::TilingContext* context, const char* op, int64_t elements,
                                uint32_t elementBytes, uint32_t inputs, uint64_t key,
                                ElementwiseTilingData* data);
// TileElementwise does all for inputs of one shape and one dtype, named in their order, with the key ELEMENTWISE_FULL_LOAD.
ge::graphStatus TileElementwise(gert::TilingContext* context, const char* op,
                                const std::vector<const char*>& inputs,
                                ElementwiseTilingData* data);

// --- Tiling data as JSON: what <OpType>TilingJson returns

// JsonFields returns the fields as `"name":value,` ...
std::string JsonFields(const RowReduceTilingData& data);
std::string JsonFields(const ElementwiseTilingData& data);
int64_t RowReduceTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize);
int64_t ElementwiseTilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize);

// TILING_FIELD_JSON writes a field of tiling data as JSON: `"name":value,`. The lists of fields are
// macros (ROW_REDUCE_TILING_FIELDS), so that no name is written twice.
#define TILING_FIELD_JSON(name) text += "\"" #name "\":" + std::to_string(data.name) + ",";

// JsonNumber writes a number as JSON. NaN and Inf, which JSON does not have, become strings.
inline std::string JsonNumber(float value) {
  char text[48];
  std::snprintf(text, sizeof(text), value - value == 0 ? "%.9g" : "\"%g\"",
                static_cast<double>(value));
  return text;
}

// Copies text into json. Returns its length without the terminator, or -1 when it does not fit.
inline int64_t PutJson(const std::string& text, char* json, uint64_t jsonSize) {
  if (json == nullptr || text.size() >= jsonSize) {
    return -1;
  }
  std::memcpy(json, text.c_str(), text.size() + 1);
  return static_cast<int64_t>(text.size());
}

// TilingJson is the body of <OpType>TilingJson. `fields` turns data into `"name":value,` ...
template <typename Data, typename Fields>
int64_t TilingJson(const void* data, uint64_t size, char* json, uint64_t jsonSize,
                   const Fields& fields) {
  if (data == nullptr || size != sizeof(Data)) {
    return -1;
  }
  Data copy;
  std::memcpy(&copy, data, sizeof(copy));
  std::string text = fields(copy);
  text.pop_back();  // the last comma
  return PutJson("{" + text + "}", json, jsonSize);
}

}  // namespace optiling

#endif  // OP_HOST_COMMON_TILING_CONTEXT_H_
