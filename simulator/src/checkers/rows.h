// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record.h"

namespace aclsim {

// Returns whether an access is rows of equal length that lie apart, such as a tile of some columns of a matrix. There may be thousands
// of them in each of thousands of copies: whoever can takes them as one.
inline bool IsRows(const Access& access) {
  return access.repeat > 1 && !access.masked && access.chunk >= access.bytes &&
         access.bytes == access.lastBytes && access.bytes > 0 &&
         access.repStride > static_cast<int64_t>(access.bytes);
}

}  // namespace aclsim
