// SPDX-License-Identifier: Apache-2.0
// Options that the host's threads obey: aclsimSetOption, else the environment, else the default.
#pragma once

#include <cstdint>

namespace aclsim {

// ACLGRAD_SIM_THREADS, else the CPUs this process may use.
uint32_t HostThreadCount();
void SetHostThreadCount(uint32_t threads);  // 0: default

// Seconds of processor time after which code that gets nothing done ends. 0: off. ACLGRAD_SIM_HANG_LIMIT.
double HangLimit();
void SetHangLimit(double seconds);
// Returns the same, or less where the program has set a limit for operators (aclrtSetOpExecuteTimeOut).
double StuckLimit();
void SetExecuteLimit(double seconds);  // 0: none

}  // namespace aclsim
