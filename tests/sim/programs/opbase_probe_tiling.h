// SPDX-License-Identifier: Apache-2.0
// Tiling data of ProbeShift.
#pragma once

#include <cstdint>

struct ProbeShiftTiling {
  uint64_t count;
  float bias;
  uint32_t mode;
};
