// SPDX-License-Identifier: Apache-2.0
// The loops of timing/shares.cpp that this host can run.
#include "host/level.h"
#include "timing/shares.h"

namespace aclsim {

ACLSIM_OF_HOST(SharesTable, TableOfShares)

const SharesTable& SharesLoops() {
  static const SharesTable& table = OfHost();
  return table;
}

}  // namespace aclsim
