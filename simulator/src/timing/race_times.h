// SPDX-License-Identifier: Apache-2.0
// Both ends of a race by the model of time: when it has them, and what the pipes do meanwhile.
#pragma once

#include <vector>

#include "findings/finding.h"
#include "timing/tape.h"

namespace aclsim {

// Gives each finding of two instructions that are known by number its timeline: JSON of
// {"mhz","begin","end","lanes":[[core,"VECTOR"],...],"ends":[[lane,begin,end],...] in the order of at and related,
//  "slices":[[lane,begin,end,waits,"Mul","file:line",count],...],"arrows":[[from,to,begin,end,"SetFlag"],...]}; times are cycles
// since the launch began. Every core has to have come to its end.
void AddTimelines(const KernelLaunch& launch, const std::vector<Tape>& tapes,
                  std::vector<Finding>* findings);

}  // namespace aclsim
