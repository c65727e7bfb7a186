// SPDX-License-Identifier: Apache-2.0
// The checks report findings: of kernels and of host programs, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "findings/fault.h"

namespace aclsim {

enum class Severity : uint8_t {
  kError,  // hardware would crash, hang or compute wrong numbers
  kHint,   // correct but wasteful
};

// One end of a finding: an instruction, or a host call.
struct Place {
  std::string pipe;         // "VECTOR", "host", ...
  std::string instruction;  // "Mul", "aclrtMemcpy", ...
  std::string note;         // what it did: "writes", "reads", "waits"
  SourceLine line;
  // The core and its instruction have these numbers: the how-manieth of its pipe; 0: unknown.
  uint32_t core = 0;
  uint32_t count = 0;
};

struct Finding {
  std::string kind;  // "race-read-after-write", "host-use-after-free", ...
  Severity severity = Severity::kError;
  std::string op;
  int64_t core = -1;     // the lowest core that shows it; -1: not of a core
  std::string coreName;  // of a MIX kernel: "AIV 3"
  uint32_t blockDim = 0;
  const char* space = "";       // "UB", "GM", "host" or ""
  std::string buffer;           // as the kernel or the operator names it
  uint64_t begin = 0, end = 0;  // bytes of the buffer
  Place at;
  std::vector<Place> related;
  std::string detail;  // the numbers: got, wanted
  std::string advice;  // what hardware would do and how to mend it
  std::string soc;
  std::string tiling;
  uint64_t tilingKey = 0;
  uint64_t count = 1;       // how often in this launch
  std::string goesOn;       // what became of the access, where the core went on
  bool afterFault = false;  // of a core that had gone on after a fault
  std::string timeline;     // JSON of timing/race_times.h; empty: not asked for
};

std::string JsonQuoted(const std::string& text);
std::string FindingText(const Finding& finding);

// Adds to the list, or to the count of an equal one: same kind, operator and lines.
void MergeFinding(std::vector<Finding>* findings, Finding finding);

// The process's findings, oldest first. Thread-safe. Equal ones are counted, not repeated.
// ACLGRAD_SIM_REPORT names a file that gets each new finding as a line of JSON.
void ReportFinding(Finding finding);
// From now on each new error is also printed.
void PrintFindings();
std::string FindingsJson();
void ClearFindings();

}  // namespace aclsim
