// SPDX-License-Identifier: Apache-2.0
// A fault goes one of three ways where faults do not end cores, with the option keep_going and in fast mode. From the best to the
// last: the place that finds it says what to do instead (PassFault, or a catch of its own that clips the access); the call of
// the API is left out (ACLSIM_SKIPS_FAULTS); the core ends (EndCore). docs/reference/findings.md lists which kind goes which way.
#pragma once

#include <string>
#include <utility>

#include "findings/fault.h"

namespace aclsim {

// As ThrowFault where faults end cores; elsewhere returns, with a finding that tells how the core goes on.
void PassFault(std::string kind, std::string detail, std::string advice, const char* how);

// For a catch: the finding of a call that was left out, or `how` it was done; throws on what ends the core.
void SkipFault(KernelFault&& fault, std::string how = "");

}  // namespace aclsim

// Behind the body of a function that kernels call, which begins with `try`. The argument is what it returns instead.
#define ACLSIM_SKIPS_FAULTS(...)         \
  catch (aclsim::KernelFault & fault) {  \
    aclsim::SkipFault(std::move(fault)); \
    return __VA_ARGS__;                  \
  }
