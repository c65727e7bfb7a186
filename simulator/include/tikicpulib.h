// SPDX-License-Identifier: Apache-2.0
// The CPU twin's test interface: kernels as functions of the test program, run on the simulator with all of its checks. What the
// checks find is printed, listed by aclsimFindings, and written to the file that ACLGRAD_SIM_REPORT names; the test itself goes
// on, as there.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "aclsim/launch.h"
#include "ascendc/api.h"
#include "securec.h"  // unit tests fill memory by it, and include nothing else for it

enum class KernelMode { MIX_MODE = 0, AIC_MODE, AIV_MODE, MIX_AIC_1_1 };

inline KernelMode g_kernelMode = KernelMode::MIX_MODE;
inline uint64_t g_tilingKey = 0;

namespace AscendC {

// Inlined, so that reports name the test's line.
[[gnu::always_inline]] inline void* GmAlloc(size_t size) { return aclsimGmAlloc(size); }
[[gnu::always_inline]] inline void GmFree(void* memory) { aclsimGmFree(memory); }
inline void SetKernelMode(KernelMode mode) { g_kernelMode = mode; }

}  // namespace AscendC

#define ICPU_SET_TILING_KEY(key) (g_tilingKey = (key))
#define ICPU_RUN_KF(func, blockDim, ...)                                                   \
  aclsim::RunHere(#func, static_cast<uint32_t>(blockDim), g_tilingKey, #__VA_ARGS__, func, \
                  ##__VA_ARGS__)
