// SPDX-License-Identifier: Apache-2.0
// A kernel error: what went wrong, where, what hardware would do. Thrown inside a core, it ends the core or, where faults do not
// end cores, the call of the API; keep_going.h has more.
#pragma once

#include <string>
#include <vector>

#include "host/format.h"

namespace aclsim {

// Another place that has to do with it.
struct FaultEnd {
  std::vector<void*> stack;
  std::string instruction = "the other end";
  std::string note = {};
};

struct KernelFault {
  std::string kind;    // "ub-out-of-bounds", "queue-order", ...
  std::string detail;  // the numbers: got, wanted
  std::string advice;  // what hardware would do and how to mend it
  std::vector<void*> stack;
  std::vector<FaultEnd> related;
  const char* pipe = "";    // where it is known
  bool endsCore = false;    // in any case
  std::string buffer = {};  // as the kernel or the operator names it
};

// The current return addresses, innermost first.
std::vector<void*> CaptureStack();

// A stack that stands for the head of a function, for faults that have no line of their own: a null, which no return address is,
// and the function.
template <typename Function>
std::vector<void*> HeadOf(Function* function) {
  return {nullptr, reinterpret_cast<void*>(function)};
}

[[noreturn]] void ThrowFault(std::string kind, std::string detail, std::string advice,
                             std::vector<void*> stack = CaptureStack());

// A fault that no core goes on after.
[[noreturn]] void EndCore(std::string kind, std::string detail, std::string advice,
                          std::vector<void*> stack = CaptureStack());

struct SourceLine {
  std::string file;
  int line = 0;
  std::string text;          // the line itself when the file can be read
  std::string missing = {};  // why there is no line, and what to do
};
// The innermost frame that is kernel code, not the simulator's headers. Reads debug information: for reports only.
SourceLine FindKernelLine(const std::vector<void*>& stack);

}  // namespace aclsim
