// SPDX-License-Identifier: Apache-2.0
// Prints what tiling is told of a core's memories: sizes of L0A, L0B, L0C, L1, FB and BT; on a line of their own the
// rates of L2, HBM and UB, and the rate of L2 where a test has set one; then what copies and products of the matrix unit take.
#include <cstdio>
#include <initializer_list>

#include "acl/acl.h"
#include "platform/platform_infos_def.h"
#include "tiling/platform/platform_ascendc.h"

int main() {
  using platform_ascendc::CoreMemType;
  aclInit(nullptr);
  for (const CoreMemType type : {CoreMemType::L0_A, CoreMemType::L0_B, CoreMemType::L0_C,
                                 CoreMemType::L1, CoreMemType::FB, CoreMemType::BT}) {
    uint64_t bytes = 1;
    platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreMemSize(type, bytes);
    std::printf("%llu ", static_cast<unsigned long long>(bytes));
  }
  std::printf("\n");
  for (const CoreMemType type : {CoreMemType::L2, CoreMemType::HBM, CoreMemType::UB}) {
    uint64_t rate = 1;
    platform_ascendc::PlatformAscendCManager::GetInstance()->GetCoreMemBw(type, rate);
    std::printf("%llu ", static_cast<unsigned long long>(rate));
  }
  fe::PlatFormInfos infos;
  std::map<std::string, std::string> rates = {{"l2_rate", "7"}};
  infos.SetPlatformRes("AICoreMemoryRates", rates);
  uint64_t rate = 1;
  platform_ascendc::PlatformAscendC(&infos).GetCoreMemBw(CoreMemType::L2, rate);
  std::printf("%llu\n", static_cast<unsigned long long>(rate));
  for (const char* name : {"Intrinsic_fix_pipe_l0c2out", "Intrinsic_data_move_l12bt",
                           "Intrinsic_data_move_l0c2ub", "Intrinsic_mmad"}) {
    std::string types;
    fe::PlatFormInfos().GetPlatformRes("AICoreintrinsicDtypeMap", name, types);
    std::printf("%s ", types.empty() ? "-" : types.c_str());
  }
  std::string kind;
  fe::PlatFormInfos().GetPlatformRes("SoCInfo", "cube_vector_combine", kind);
  std::printf("%s\n", kind.empty() ? "-" : kind.c_str());
  return 0;
}
