// SPDX-License-Identifier: Apache-2.0
// The loops of the matrix unit that this host can run.
#include "device/cube_loops.h"
#include "host/level.h"

namespace aclsim {

ACLSIM_OF_HOST(CubeTable, TableOfCube)

const CubeTable& CubeLoops() {
  static const CubeTable& chosen = OfHost();
  return chosen;
}

}  // namespace aclsim
