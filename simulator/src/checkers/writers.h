// SPDX-License-Identifier: Apache-2.0
// Keeps which core wrote which bytes of outputs, of the last launches in checked mode: what a picture of a wrong result is drawn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/kernel_launch.h"

namespace aclsim {

class GmUse;

// Forgets what was kept; on: from now on launches are kept.
void KeepWriters(bool on);
bool KeepsWriters();
void AddWriters(const KernelLaunch& launch, const std::vector<GmUse*>& cores);

std::string WritersJson();
// Core and instruction of each element of an output. False, with the reason, where there is no such output.
bool PaintWriters(size_t launch, size_t output, uint64_t elementBytes, uint64_t count,
                  int32_t* cores, int64_t* pieces, std::string* why);

}  // namespace aclsim
