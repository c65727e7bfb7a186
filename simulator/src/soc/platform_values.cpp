// SPDX-License-Identifier: Apache-2.0
#include "soc/platform_values.h"

#include "soc/soc.h"

namespace aclsim {

std::optional<std::map<std::string, std::string>> PlatformValues(const std::string& label) {
  using Values = std::map<std::string, std::string>;
  const Soc& soc = CurrentSoc();
  if (label == "version") {
    return Values{{"SoC_version", soc.name},
                  {"Short_SoC_version", soc.shortName},
                  {"NpuArch", std::to_string(soc.npuArch)},
                  {"AIC_version", "AIC-C-" + std::to_string(soc.cceAicore)}};
  }
  if (label == "SoCInfo") {
    const bool split = !soc.coupled;
    Values values = {{"ai_core_cnt", std::to_string(soc.aicCores)},
                     {"cube_core_cnt", std::to_string(soc.aicCores)},
                     {"vector_core_cnt", std::to_string(VectorCoreCount())},
                     {"core_type_list", split ? "CubeCore,VectorCore" : "AICore"},
                     {"l2_size", std::to_string(soc.l2Bytes)},
                     {"memory_size", std::to_string(soc.memBytes)}};
    if (split) values["cube_vector_combine"] = "split";
    return values;
  }
  if (label == "AICoreSpec") {
    return Values{{"ub_size", std::to_string(soc.ubBytes)},
                  {"l1_size", std::to_string(soc.BytesOf(Space::kL1))},
                  {"l0_a_size", std::to_string(soc.BytesOf(Space::kL0a))},
                  {"l0_b_size", std::to_string(soc.BytesOf(Space::kL0b))},
                  {"l0_c_size", std::to_string(soc.BytesOf(Space::kL0c))},
                  {"vec_freq", std::to_string(soc.vecFreqMhz)}};
  }
  // Tiling chooses whole algorithms by what is among these.
  if (label == "AICoreintrinsicDtypeMap") return soc.intrinsics;
  if (label == "AICoreMemoryRates") {
    return Values{{"l2_rate", std::to_string(soc.l2Rate)},
                  {"ddr_rate", std::to_string(soc.memRate)}};
  }
  return std::nullopt;
}

}  // namespace aclsim
