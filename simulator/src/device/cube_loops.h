// SPDX-License-Identifier: Apache-2.0
// The arithmetic of Mmad. cube_loops.cpp is compiled once per host instruction set, as lanes.cpp is; every table gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aclsim {

// How the bits of an operand are read.
enum class CubeForm : uint8_t {
  kHalf,
  kBf16,
  kFloat,
  kHf32,
  kHf32TowardZero,
  kInt8,
  kUint8,
  kInt4,
  kE4m3,
  kE5m2,
  kHif8,
  kE2m1,
  kE1m2,
};

// Places of a product's numbers, in elements. A is as in L0A: a fractal has 16 rows of k0 numbers. B and C are panels of 16 columns, one
// row of 16 behind the other.
struct CubeProduct {
  size_t m, k, k0;
  size_t panels;
  size_t stepA;   // from a fractal of A to the next one along K
  size_t blockA;  // from 16 rows of A to the next 16
  size_t panelB, panelC;
};

struct CubeTable {
  // C += A x B: in each step of k0 rows of B, in ascending order, the sum of its products is made from 0, one after the other, and then added
  // to C.
  void (*floats)(float* c, const float* a, const float* b, const CubeProduct& product);
  // All products are summed exactly, and then added to C, which saturates.
  void (*integers)(int32_t* c, const int32_t* a, const int32_t* b, const CubeProduct& product);
  // Numbers of `fractals` fractals, in the order in which they lie.
  void (*readFloats)(float* to, const uint8_t* from, size_t fractals, CubeForm form);
  void (*readIntegers)(int32_t* to, const uint8_t* from, size_t fractals, CubeForm form);
  // The fractals of L0B, `across` for each step along K, as panels.
  void (*floatPanels)(float* to, const uint8_t* from, size_t steps, size_t across, CubeForm form);
  void (*integerPanels)(int32_t* to, const uint8_t* from, size_t steps, size_t across,
                        CubeForm form);
};

const CubeTable& CubeLoops();

}  // namespace aclsim
