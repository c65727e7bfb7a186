// SPDX-License-Identifier: Apache-2.0
// Copies of rows that lie apart, such as tiles of some columns of a matrix, against those of other cores: most touch bytes that
// no other core does, which the tiles show without a look at each of their rows.
#pragma once

#include <deque>
#include <vector>

#include "checkers/gm_use.h"

namespace aclsim {

// The accesses that may be part of a conflict, each contiguous; rows keeps those that had to be made.
std::vector<const GmAccess*> Suspects(const std::vector<GmUse*>& cores, std::deque<GmAccess>* rows);

}  // namespace aclsim
