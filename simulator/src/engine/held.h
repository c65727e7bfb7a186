// SPDX-License-Identifier: Apache-2.0
// The instructions that chaos holds back: the option "held".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/finding.h"

namespace aclsim {

// These instructions are held back by chaos, by their numbers on a core; empty: all. The others run when they are issued, unless one
// of these stands before them on their pipe.
struct HeldBack {
  struct Range {
    uint32_t first = 0;
    uint32_t last = 0;
  };
  std::vector<Range> ranges;

  bool Has(uint32_t number) const;
  bool Few() const;  // so that each can be named
};
HeldBack Held();
std::string HeldText();  // "12+40-41", or "all"
// False: not such a text.
bool SetHeld(const std::string& text);
// The first of them that launches have held back since SetHeld, as what a person reads: JSON for aclsimHeld.
void NoteHeld(uint32_t number, uint32_t core, const Place& place);
std::string HeldJson();

}  // namespace aclsim
