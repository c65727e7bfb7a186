// SPDX-License-Identifier: Apache-2.0
// The user says what a finding counts as: an error, a warning, or nothing.
#pragma once

#include <string>

#include "findings/finding.h"

namespace aclsim {

enum class Level : uint8_t { kError, kWarn, kOff };

// Words with commas between: error, warn or off for all findings, KIND=warn for one kind, @FILE=warn for those of a source file,
// KIND@FILE=warn for both. FILE is the end of a path or has * and ? in it. What says more decides, else the last word. False with
// the word that is none of these.
bool SetFindingLevels(const std::string& text, std::string* bad);
std::string FindingLevels();
// Returns whether some finding may be less than an error.
bool AnyTolerated();
Level LevelOf(const std::string& kind, const std::string& file);
// ReportFinding for a finding whose level is known.
void ReportFinding(Finding finding, Level level);

}  // namespace aclsim
