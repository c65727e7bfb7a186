// SPDX-License-Identifier: Apache-2.0
// PlatformInfoManager: facts of the simulated SoC for code without a context. The name of another SoC is not looked at.
#pragma once

#include "platform/platform_info_def.h"
#include "platform/platform_infos_def.h"

namespace fe {

class PlatformInfoManager {
 public:
  PlatformInfoManager(const PlatformInfoManager&) = delete;
  PlatformInfoManager& operator=(const PlatformInfoManager&) = delete;

  static PlatformInfoManager& Instance();
  static PlatformInfoManager& GeInstance() { return Instance(); }
  uint32_t InitializePlatformInfo() { return 0; }
  uint32_t Finalize() { return 0; }
  // These answer 0.
  uint32_t GetPlatformInfo(const std::string& socVersion, PlatformInfo& platform,
                           OptionalInfo& optional);
  uint32_t GetPlatformInfoWithOutSocVersion(PlatformInfo& platform, OptionalInfo& optional);
  uint32_t GetPlatformInfos(const std::string& socVersion, PlatFormInfos& platform,
                            OptionalInfos& optional);
  uint32_t GetPlatformInfoWithOutSocVersion(PlatFormInfos& platform, OptionalInfos& optional);

 private:
  PlatformInfoManager() = default;
};

}  // namespace fe
