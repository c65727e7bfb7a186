// SPDX-License-Identifier: Apache-2.0
// Communication between devices within a kernel, which the simulator does not have: a compile error that says so.
#pragma once

#include "ascendc/absent.h"

#define ACLSIM_NO_HCCL                                                                       \
  "HCCL in kernels is not simulated: there is one device. Next: run this kernel on an NPU, " \
  "and what lies between the communications as a kernel of its own here"

namespace AscendC {

enum class HcclServerType {
  HCCL_SERVER_TYPE_AICPU = 0,
  HCCL_SERVER_TYPE_CCU,
  HCCL_SERVER_TYPE_END
};
constexpr auto HCCL_SERVER_TYPE_AICPU = HcclServerType::HCCL_SERVER_TYPE_AICPU;
constexpr auto HCCL_SERVER_TYPE_CCU = HcclServerType::HCCL_SERVER_TYPE_CCU;
constexpr uint32_t HCCL_GROUP_ID_0 = 0;

template <auto... options>
constexpr bool kNoHccl = false;

template <auto... options>
class Hccl {
  static_assert(kNoHccl<options...>, ACLSIM_NO_HCCL);
};
template <uint32_t index>
__gm__ uint8_t* GetHcclContext() {
  static_assert(kNoHccl<index>, ACLSIM_NO_HCCL);
  return nullptr;
}

}  // namespace AscendC
