// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct AffineTilingData {
  uint32_t count;
  float scale;
};
