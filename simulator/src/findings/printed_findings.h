// SPDX-License-Identifier: Apache-2.0
// Findings on the error stream: of programs that have nobody else to show them.
#pragma once

#include <string>

namespace aclsim {

// The program has begun: from now on each new error is printed, and each new warning in one line.
void PrintFindingsOfProgram();
// Keeps all of these from being printed, by the stream's failure too.
void SilenceFindings();
// The text without the findings that have been printed already.
std::string WithoutPrinted(std::string text);

}  // namespace aclsim
