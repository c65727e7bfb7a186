// SPDX-License-Identifier: Apache-2.0
// The arithmetic of Mmad on plain row-major matrices. cube_loops.cpp is compiled once per host instruction set, as lanes.cpp is; every table
// gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aclsim {

struct CubeTable {
  // c[m][n] += a[m][k] * b[k][n]: per step of `step` rows of b, in ascending order, the sum of its products is made from 0, one after the
  // other, and then added to c.
  void (*floats)(float* c, const float* a, const float* b, size_t m, size_t n, size_t k,
                 size_t step);
  // All products are summed exactly, and then added to c, which saturates.
  void (*integers)(int32_t* c, const int8_t* a, const int8_t* b, size_t m, size_t n, size_t k);
  void (*halfToFloat)(float* to, const uint16_t* from, size_t n);
};

const CubeTable& CubeLoops();

}  // namespace aclsim
