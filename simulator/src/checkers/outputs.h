// SPDX-License-Identifier: Apache-2.0
// Outputs that a launch has left unwritten, in whole or in part.
#pragma once

#include <vector>

#include "checkers/gm_use.h"

namespace aclsim {

// A finding for each output that is to be written from end to end and was not, when all cores have ended well.
std::vector<Finding> FindUnwritten(const KernelLaunch& launch, const std::vector<GmUse*>& cores);

// Findings for arguments that nobody calls an output, as those of a kernel of a C++ program. They count once the host
// reads the memory: an error where the kernel wrote nothing, a hint where it wrote a part, which may be all that is used.
std::vector<UnwrittenMemory> FindUnwrittenIfRead(const KernelLaunch& launch,
                                                 const std::vector<GmUse*>& cores);

}  // namespace aclsim
