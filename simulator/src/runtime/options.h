// SPDX-License-Identifier: Apache-2.0
// The options of aclsimSetOption and their environment variables.
#pragma once

#include <cstdint>
#include <string>

namespace aclsim {

// Reads the environment for every option that aclsimSetOption has not set. Returns 0 or an aclError
// with the reason.
int32_t ApplyEnvironment(std::string* why);

// Memory of the simulated device.
uint64_t DeviceMemoryBytes();

}  // namespace aclsim
