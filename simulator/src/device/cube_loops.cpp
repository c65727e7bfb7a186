// SPDX-License-Identifier: Apache-2.0
#include "device/cube_loops.h"

#include "ascendc/half.h"
#include "host/level.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

constexpr size_t kRows = 4;   // of c at a time
constexpr size_t kWide = 16;  // columns of c at a time

// rows x kWide of c, whose sums stay in registers.
template <size_t rows>
inline void Tile(float* c, const float* a, const float* b, size_t n, size_t k, size_t step) {
  for (size_t from = 0; from < k; from += step) {
    const size_t to = from + step < k ? from + step : k;
    float sum[rows][kWide] = {};
    for (size_t i = from; i < to; ++i) {
      for (size_t r = 0; r < rows; ++r) {
        const float x = a[r * k + i];
        for (size_t j = 0; j < kWide; ++j) {
          sum[r][j] += x * b[i * n + j];
        }
      }
    }
    for (size_t r = 0; r < rows; ++r) {
      for (size_t j = 0; j < kWide; ++j) {
        c[r * n + j] += sum[r][j];
      }
    }
  }
}

// n is a multiple of kWide.
void Floats(float* c, const float* a, const float* b, size_t m, size_t n, size_t k, size_t step) {
  size_t i = 0;
  for (; i + kRows <= m; i += kRows) {
    for (size_t j = 0; j < n; j += kWide) {
      Tile<kRows>(c + i * n + j, a + i * k, b + j, n, k, step);
    }
  }
  for (; i < m; ++i) {
    for (size_t j = 0; j < n; j += kWide) {
      Tile<1>(c + i * n + j, a + i * k, b + j, n, k, step);
    }
  }
}

void Integers(int32_t* c, const int8_t* a, const int8_t* b, size_t m, size_t n, size_t k) {
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; j += kWide) {
      int32_t sum[kWide] = {};
      for (size_t p = 0; p < k; ++p) {
        const int32_t x = a[i * k + p];
        for (size_t l = 0; l < kWide; ++l) {
          sum[l] += x * b[p * n + j + l];
        }
      }
      for (size_t l = 0; l < kWide; ++l) {
        const int64_t exact = int64_t{c[i * n + j + l]} + sum[l];
        c[i * n + j + l] = static_cast<int32_t>(exact > INT32_MAX   ? INT32_MAX
                                                : exact < INT32_MIN ? INT32_MIN
                                                                    : exact);
      }
    }
  }
}

void HalfToFloats(float* to, const uint16_t* from, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    to[i] = HalfToFloat(from[i]);
  }
}

}  // namespace

const CubeTable& TableOfCube();
const CubeTable& TableOfCube() {
  static constexpr CubeTable kTable = {Floats, Integers, HalfToFloats};
  return kTable;
}

}  // namespace aclsim::ACLSIM_LEVEL
