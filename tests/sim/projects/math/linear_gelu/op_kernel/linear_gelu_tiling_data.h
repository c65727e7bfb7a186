// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

constexpr uint32_t kTile = 64;  // of M, N and K
constexpr uint32_t kSlots = 2;  // tiles of the workspace that each AI core has

struct LinearGeluTilingData {
  uint32_t m;
  uint32_t n;
  uint32_t k;
};
