// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "soc/overlay.h"

namespace aclsim {

const char* OverlayPath() {
#ifdef ACLSIM_PLAYS_BOARD
  // A board whose differences nobody is told of: what tests hold aclgrad calibrate against.
  if (const char* hidden = std::getenv("ACLGRAD_TESTS_HIDDEN_BOARD")) {
    return hidden;
  }
#endif
  const char* path = std::getenv("ACLGRAD_CALIBRATION");
  return path != nullptr && *path != '\0' ? path : nullptr;
}

}  // namespace aclsim
