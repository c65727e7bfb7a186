// SPDX-License-Identifier: Apache-2.0
// The host tells the add_rows kernel this.
#ifndef ADD_ROWS_TILING_H
#define ADD_ROWS_TILING_H

#include <cstdint>

struct AddRowsTilingData {
  int64_t rows;         // of y
  int64_t rowsPerCore;  // of each core but the last
  int64_t columns;
  int64_t indices;
  int64_t skipped;  // the index whose rows are left out, -1: none
};

#endif  // ADD_ROWS_TILING_H
