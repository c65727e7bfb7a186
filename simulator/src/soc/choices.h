// SPDX-License-Identifier: Apache-2.0
// These are what the documents leave open and the simulator had to choose, as far as it can also do otherwise: a board may say so
// (soc/overlay.h). All choices, with what they rest on, are rows of unknowns.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace aclsim {

// enum class Choice, by the rows of unknowns.json that have alternatives, and for each an enum of these.
#include "choices.inc"

// The number of the alternative in force: 0 is what the simulator does by itself.
uint8_t ChosenOf(Choice choice);

// Returns whether a choice has such an alternative to what the simulator does by itself.
bool HasAlternative(const std::string& choice, const std::string& name);

}  // namespace aclsim
