// SPDX-License-Identifier: Apache-2.0
// A board says these in place of the tables: costs by their names in costs.json, choices by those of unknowns.json. From the member
// "overlay" of the file that ACLGRAD_CALIBRATION names (aclgrad calibrate), read once.
#pragma once

#include <map>
#include <string>

namespace aclsim {

struct Overlay {
  std::map<std::string, double> costs;
  std::map<std::string, std::string> choices;
  std::string why;  // why the file could not be used; then nothing of it is
};

const Overlay& BoardOverlay();

// The file of BoardOverlay(), or null. Libraries that play a board in tests have another body of it.
const char* OverlayPath();

// Text as aclgrad calibrate writes it, or why it is not.
Overlay ReadOverlay(const std::string& text);

}  // namespace aclsim
