// SPDX-License-Identifier: Apache-2.0
// For the files that are compiled once per host instruction set: ACLSIM_LEVEL names the namespace. They hold plain loops only:
// library templates that the linker could merge across instruction sets must not be instantiated there.
#pragma once

#include "device/lanes.h"

#ifndef ACLSIM_LEVEL
#define ACLSIM_LEVEL baseline
#endif

namespace aclsim::ACLSIM_LEVEL {

constexpr size_t D(DType dtype) { return static_cast<size_t>(dtype); }

// lanes_cast.cpp
void AddCasts(LaneTable* table);
// lanes_reg.cpp
void AddRegisters(LaneTable* table);

}  // namespace aclsim::ACLSIM_LEVEL
