// SPDX-License-Identifier: Apache-2.0
// The files of lanes that are compiled once per instruction set of the host share this. As host/level.h says.
#pragma once

#include "device/lanes.h"
#include "host/level.h"

namespace aclsim::ACLSIM_LEVEL {

constexpr size_t D(DType dtype) { return static_cast<size_t>(dtype); }

// lanes_cast.cpp
void AddCasts(LaneTable* table);
// lanes_reg.cpp
void AddRegisters(LaneTable* table);

}  // namespace aclsim::ACLSIM_LEVEL
