// SPDX-License-Identifier: Apache-2.0
// The kind of core that a source is compiled for.
#pragma once

#include "ascendc/lang.h"

namespace AscendC {

constexpr int32_t AIC = 1;
constexpr int32_t AIV = 2;
constexpr int32_t MIX = 3;
constexpr int32_t AIC_TYPE = AIC;
constexpr int32_t AIV_TYPE = AIV;

}  // namespace AscendC

// It is constexpr, as `if ASCEND_IS_AIV {}` wants it.
#ifdef ACLSIM_FOR_CUBE
constexpr int32_t g_coreType = AscendC::AIC;
#else
constexpr int32_t g_coreType = AscendC::AIV;
#endif
#define ASCEND_IS_AIV constexpr(g_coreType == AscendC::AIV)
#define ASCEND_IS_AIC constexpr(g_coreType == AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr(g_coreType != AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr(g_coreType != AscendC::AIC)
