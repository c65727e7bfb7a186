// SPDX-License-Identifier: Apache-2.0
// A probe without a kernel of its own: aclnnEqScalar of one element and a number, whose types differ.
#pragma once

#include "acl/acl.h"

// in: an int32 2, a half 0.1 and a float 16777216, 32 bytes apart; out: whether they equal 2.5 (float), 0.1 (double) and 16777217
// (int64), in the same way.
int CompareNumbers(aclrtStream stream, void* in, void* out);
