// SPDX-License-Identifier: Apache-2.0
// The host tells the row_reduction kernel this.
#ifndef ROW_REDUCTION_TILING_H
#define ROW_REDUCTION_TILING_H

#include <cstdint>

enum class RowReductionKind : int32_t { kSum, kMaximum, kMinimum };

struct RowReductionTilingData {
  int64_t rows;
  int64_t columns;
  int64_t rowsPerCore;  // of each core but the last; a multiple of kResultRows
  int32_t kind;
  int32_t unused;
};

constexpr int64_t kResultRows = 128;  // results that are stored together

#endif  // ROW_REDUCTION_TILING_H
