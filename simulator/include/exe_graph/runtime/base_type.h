// SPDX-License-Identifier: Apache-2.0
// Return type of registered functions.
#pragma once

typedef unsigned int UINT32;
typedef UINT32 KernelStatus;
