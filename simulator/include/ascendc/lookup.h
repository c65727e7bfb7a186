// SPDX-License-Identifier: Apache-2.0
// `ReduceSum<float>(dst, ...)` without AscendC:: and without a using. CANN's compiler finds the function by its arguments, as C++20
// has it; C++17 does so only where some function template of that name is in sight. So there is one, and nothing can call it.
#pragma once

namespace aclsim {
struct Uncallable;
}

// In sight, and not declared at the level at which sources have namespaces of these names.
namespace aclsim::in_sight {
#define ACLSIM_BY_ARGUMENTS(Name, ...) \
  template <typename>                  \
  void Name(Uncallable&);
#define ACLSIM_BINARY ACLSIM_BY_ARGUMENTS
#define ACLSIM_BINARY_ALIAS ACLSIM_BY_ARGUMENTS
#define ACLSIM_UNARY ACLSIM_BY_ARGUMENTS
#define ACLSIM_SCALAR ACLSIM_BY_ARGUMENTS
#define ACLSIM_WHOLE_REDUCE ACLSIM_BY_ARGUMENTS
#define ACLSIM_BLOCK_REDUCE ACLSIM_BY_ARGUMENTS
#define ACLSIM_EXTREME ACLSIM_BY_ARGUMENTS
#define ACLSIM_FUNCTION ACLSIM_BY_ARGUMENTS
#define ACLSIM_LEVELS ACLSIM_BY_ARGUMENTS
#include "ascendc/instructions.def"
#undef ACLSIM_BY_ARGUMENTS
}  // namespace aclsim::in_sight
using namespace aclsim::in_sight;
