// SPDX-License-Identifier: Apache-2.0
// The chip's facts as one struct. CANN's header brings std::map, std::string and std::vector into the global namespace, and
// op_host sources rely on it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

using std::map;
using std::string;
using std::vector;

namespace fe {

// Members that the SoC table knows; asking for another one does not compile.
struct StrInfo {
  std::string aic_version;
  std::string short_soc_version;
};
struct SoCInfo {
  uint32_t ai_core_cnt = 0;
  uint32_t vector_core_cnt = 0;
  uint64_t memory_size = 0;
  uint64_t l2_size = 0;
};
struct AiCoreSpec {
  uint64_t l0_a_size = 0;
  uint64_t l0_b_size = 0;
  uint64_t l0_c_size = 0;
  uint64_t l1_size = 0;
  uint64_t ub_size = 0;
  uint64_t ubblock_size = 0;
};
struct VectorCoreSpec {
  uint64_t ub_size = 0;
  uint64_t ubblock_size = 0;
};
struct PlatformInfo {
  StrInfo str_info;
  SoCInfo soc_info;
  AiCoreSpec ai_core_spec;
  VectorCoreSpec vector_core_spec;
};
struct OptionalInfo {
  std::string soc_version;
  std::string core_type;
  uint32_t ai_core_num = 0;
  std::string l1_fusion_flag;
};

}  // namespace fe
