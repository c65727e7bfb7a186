// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct LinearTilingData {
  uint32_t m;
  uint32_t n;
  uint32_t k;
};
