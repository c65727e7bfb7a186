// SPDX-License-Identifier: Apache-2.0
// aclsimSetOption and the environment ask for these; implemented by the runtime's options.
#pragma once

#include <cstdint>
#include <string>

#include "soc/soc.h"

namespace aclsim {

// nullptr with the reason in *why when ACLGRAD_SOC names no SoC. CurrentSoc() throws
// std::runtime_error with that text: no caller gets a SoC that nobody asked for.
const Soc* SelectedSoc(std::string* why);
// Vector cores asked for; 0: all of the SoC.
uint32_t SelectedCores();
// Cores that the device or the stream leaves to the work of this thread (aclrtSetStreamResLimit, ...); 0: all.
uint32_t VectorCoreLimit();
uint32_t CubeCoreLimit();

// "unknown SoC "x"; near matches: ...".
std::string UnknownSocText(const std::string& name);

}  // namespace aclsim
