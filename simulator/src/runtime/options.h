// SPDX-License-Identifier: Apache-2.0
// The options of aclsimSetOption and their environment variables.
#pragma once

#include <cstdint>
#include <string>

namespace aclsim {

// Reads the environment for every option that aclsimSetOption has not set. Returns 0 or an aclError
// with the reason.
int32_t ApplyEnvironment(std::string* why);

// The architecture that the program's own kernels are compiled for; the first one counts. Where nothing else names a SoC, it has
// this one.
void SetProgramArch(uint32_t npuArch);

// Simulated devices: ACLGRAD_DEVICES, 1 without.
uint32_t DeviceCount();

// Memory of one of them.
uint64_t DeviceMemoryBytes();

}  // namespace aclsim
