// SPDX-License-Identifier: Apache-2.0
// Options of the engine: aclsimSetOption, else the environment, else the default.
#pragma once

#include <cstdint>

namespace aclsim {

// ACLGRAD_SIM_THREADS, else the CPUs this process may use.
uint32_t HostThreadCount();
void SetHostThreadCount(uint32_t threads);  // 0: default

}  // namespace aclsim
