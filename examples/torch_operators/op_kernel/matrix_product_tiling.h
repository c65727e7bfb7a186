// SPDX-License-Identifier: Apache-2.0
// The host tells the matrix_product kernel this.
#ifndef MATRIX_PRODUCT_TILING_H
#define MATRIX_PRODUCT_TILING_H

#include <cstdint>

struct MatrixProductTilingData {
  uint32_t batch;
  uint32_t m;  // rows of a and y
  uint32_t n;  // rows of b, columns of y
  uint32_t k;  // columns of a and b
};

constexpr int64_t kProductTile = 64;  // of M, N and K

#endif  // MATRIX_PRODUCT_TILING_H
