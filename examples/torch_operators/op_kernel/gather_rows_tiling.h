// SPDX-License-Identifier: Apache-2.0
// The host tells the gather_rows kernel this.
#ifndef GATHER_ROWS_TILING_H
#define GATHER_ROWS_TILING_H

#include <cstdint>

struct GatherRowsTilingData {
  int64_t tableRows;
  int64_t columns;
  int64_t indices;
  int64_t indicesPerCore;  // of each core but the last
};

#endif  // GATHER_ROWS_TILING_H
