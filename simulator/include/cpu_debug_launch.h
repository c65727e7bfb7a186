// SPDX-License-Identifier: Apache-2.0
// Sources include this in CPU debug mode, for the launches that every .asc file has here anyway.
#ifndef CPU_DEBUG_LAUNCH_H_
#define CPU_DEBUG_LAUNCH_H_

#include "aclsim/asc.h"

#endif  // CPU_DEBUG_LAUNCH_H_
