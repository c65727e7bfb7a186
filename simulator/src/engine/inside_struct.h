// SPDX-License-Identifier: Apache-2.0
// The name of memory that a kernel finds by a struct among its arguments.
#pragma once

namespace aclsim {

// Nothing tells results from workspaces there.
inline constexpr const char* kInsideStruct = "memory that a struct of arguments names";

}  // namespace aclsim
