// SPDX-License-Identifier: Apache-2.0
// Findings on the error stream: of programs that have nobody else to show them.
#pragma once

#include <string>

namespace aclsim {

// The program has begun: from now on each new error is printed, unless ACLGRAD_FINDINGS or the option "findings" is "off". Of one
// kind: "gm-cache=off"; several separated by commas.
void PrintFindingsOfProgram();
// As said above; false: not such a text.
bool SetShownFindings(const std::string& text);
std::string ShownFindings();
// The text without the findings that have been printed already.
std::string WithoutPrinted(std::string text);

}  // namespace aclsim
