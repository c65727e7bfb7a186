// SPDX-License-Identifier: Apache-2.0
// Picks the loops that this host can run.
#include "host/level.h"
#include "timing/shares.h"

namespace aclsim {

namespace baseline {
const SharesTable& TableOfShares();
}
#ifdef ACLSIM_X86_LEVELS
namespace v3 {
const SharesTable& TableOfShares();
}
namespace v4 {
const SharesTable& TableOfShares();
}
#endif

const SharesTable& SharesLoops() {
#ifdef ACLSIM_X86_LEVELS
  static const Level level = HostLevel();
  if (level == Level::kV4) {
    return v4::TableOfShares();
  }
  if (level == Level::kV3) {
    return v3::TableOfShares();
  }
#endif
  return baseline::TableOfShares();
}

}  // namespace aclsim
