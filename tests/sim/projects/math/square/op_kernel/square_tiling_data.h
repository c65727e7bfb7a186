// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct SquareTilingData {
  uint32_t count;
};
