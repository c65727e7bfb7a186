// SPDX-License-Identifier: Apache-2.0
// Requests and answers between AIVs and their AIC, each with the order between their pipes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core.h"

namespace aclsim {

// An AIV's request, behind what its MTE3 has copied.
void PostBehindMte3(Core& core, uint32_t object, std::vector<uint8_t> body);
// The AIC's answer to the AIV of this number in its AI core, behind what `pipe` has done.
void AnswerBehind(Core& core, Pipe pipe, uint32_t vector, uint32_t object,
                  std::vector<uint8_t> body);

}  // namespace aclsim
