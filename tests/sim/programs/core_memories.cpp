// SPDX-License-Identifier: Apache-2.0
// Prints what tiling is told of a core's memories: L0A, L0B, L0C, L1, FB and BT.
#include <cstdio>
#include <initializer_list>

#include "acl/acl.h"
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
  return 0;
}
