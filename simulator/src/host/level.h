// SPDX-License-Identifier: Apache-2.0
// Instruction sets of the host. Some files are compiled once for each, and ACLSIM_LEVEL names the namespace. They hold plain loops
// only: library templates that the linker could merge across instruction sets must not be instantiated there.
#pragma once

#include <cstdint>

#ifndef ACLSIM_LEVEL
#define ACLSIM_LEVEL baseline
#endif

namespace aclsim {

enum class Level : uint8_t { kBaseline, kV3, kV4 };

// The highest one that this host can run and that the library was built for.
Level HostLevel();

}  // namespace aclsim
