// SPDX-License-Identifier: Apache-2.0
// The chip that operators run on.
#pragma once

#include <string>

#include "aclnn/aclnn_base.h"
#include "graph/ascend_string.h"
#include "platform/platform_infos_def.h"
#include "platform/soc_spec.h"

namespace op {

// The order matters: sources ask for ranges such as ASCEND910B .. ASCEND910E.
enum class SocVersion {
  ASCEND910 = 0,
  ASCEND910B,
  ASCEND910_93,
  ASCEND910_95,
  ASCEND950 = ASCEND910_95,
  ASCEND910E,
  ASCEND310,
  ASCEND310P,
  ASCEND310B,
  ASCEND310C,
  ASCEND610LITE,
  KIRINX90,
  KIRIN9030,
  ASCEND350,
  RESERVED_VERSION = 99999
};

class PlatformInfo {
 public:
  SocVersion GetSocVersion() const;
  const std::string& GetSocLongVersion() const;  // "Ascend910B2"
  NpuArch GetCurNpuArch() const;
  int32_t GetDeviceId() const;
  int64_t GetBlockSize() const { return 32; }
  uint32_t GetCubeCoreNum() const;
  uint32_t GetVectorCoreNum() const;
  bool Valid() const { return true; }
  fe::PlatFormInfos* GetPlatformInfos() const;
};

const PlatformInfo& GetCurrentPlatformInfo();
ge::AscendString ToString(SocVersion socVersion);

}  // namespace op
