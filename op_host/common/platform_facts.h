// SPDX-License-Identifier: Apache-2.0
// These functions read what a tiling needs from its context before the pure part takes over.
#ifndef OP_HOST_COMMON_PLATFORM_FACTS_H_
#define OP_HOST_COMMON_PLATFORM_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/soc_facts.h"
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

// AlikeInputs are inputs of one shape and one dtype.
struct AlikeInputs {
  const gert::Shape* shape = nullptr;
  uint32_t elementBytes = 0;
};

// Reads the first inputs, named in their order. Reports what is wrong before it fails.
inline ge::graphStatus ReadAlikeInputs(gert::TilingContext* context,
                                       const std::vector<const char*>& names, AlikeInputs* inputs) {
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

}  // namespace optiling

#endif  // OP_HOST_COMMON_PLATFORM_FACTS_H_
