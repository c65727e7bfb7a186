// SPDX-License-Identifier: Apache-2.0
// Facts of the simulated SoC by label and key, as CANN's platform files name them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "platform/platform_info_def.h"

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

// Speaks of the SoC that is current when it is asked, but for what unit tests have set.
class PlatFormInfos {
 public:
  bool Init() { return true; }
  // Label "version" (Short_SoC_version, SoC_version, NpuArch), "SoCInfo" (ai_core_cnt,
  // vector_core_cnt, l2_size, memory_size), "AICoreSpec" (ub_size, l1_size, l0_a_size,
  // l0_c_size) or "AICoreMemoryRates" (l2_rate, ddr_rate). False for anything else.
  bool GetPlatformRes(const std::string& label, const std::string& key, std::string& value);
  bool GetPlatformResWithLock(const std::string& label, const std::string& key,
                              std::string& value) {
    return GetPlatformRes(label, key, value);
  }
  bool GetPlatformRes(const std::string& label, std::map<std::string, std::string>& values);
  bool GetPlatformResWithLock(const std::string& label,
                              std::map<std::string, std::string>& values) {
    return GetPlatformRes(label, values);
  }
  uint32_t GetCoreNum() const;
  uint32_t GetCoreNumWithLock() const { return GetCoreNum(); }
  uint32_t GetCoreNumByType(const std::string& coreType);
  void GetLocalMemSize(const LocalMemType& type, uint64_t& size);
  // Bytes per cycle of L2 and HBM, 0 for the memories of a core.
  void GetLocalMemBw(const LocalMemType& type, uint64_t& rate);

  // Values of a label that hold instead of the SoC's.
  void SetPlatformRes(const std::string& label, std::map<std::string, std::string>& values) {
    given_[label] = values;
  }
  void SetPlatformResWithLock(const std::string& label,
                              std::map<std::string, std::string>& values) {
    SetPlatformRes(label, values);
  }
  void SetCoreNum(const uint32_t& count) { core_num_ = count; }
  // Cores of a kind, AICore or VectorCore, are what GetCoreNum answers from now on.
  void SetCoreNumByCoreType(const std::string& coreType) { core_num_ = GetCoreNumByType(coreType); }
  // Not part of CANN: what was set; nullptr where nothing was.
  const std::string* Given(const std::string& label, const std::string& key) const;

 private:
  std::map<std::string, std::map<std::string, std::string>> given_;
  uint32_t core_num_ = 0;
};

class OptionalInfos {
 public:
  bool Init() { return true; }
  std::string GetSocVersion() const;
  std::string GetCoreType() const { return "AiCore"; }
  uint32_t GetAICoreNum() const;
};

}  // namespace fe
