// SPDX-License-Identifier: Apache-2.0
// SoCs by the versions that tiling knows.
#pragma once

#include "soc/soc.h"
#include "tiling/platform/platform_ascendc.h"

namespace aclsim {

// Returns the simulated SoC if it is of the version or no SoC is, else the first one that is.
const Soc& SocOf(platform_ascendc::SocVersion version);

}  // namespace aclsim
