// SPDX-License-Identifier: Apache-2.0
// The arithmetic of vector instructions on plain contiguous arrays. lanes.cpp, lanes_cast.cpp and lanes_reg.cpp are compiled once
// per host instruction set and the best table is chosen at start-up; every table gives the same bits (no contraction, no
// reassociation), but for those of a NaN.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ascendc/device_abi.h"
#include "ascendc/reg_abi.h"
#include "engine/dtypes.h"

namespace aclsim {

// nullptr: the instruction does not exist for this element type. dst may be equal to a source, never overlap it otherwise.
struct LaneTable {
  using Binary = void (*)(void* dst, const void* a, const void* b, size_t n);
  using Unary = void (*)(void* dst, const void* a, size_t n);
  using Scalar = void (*)(void* dst, const void* a, ScalarValue s, size_t n);
  using Cast = void (*)(void* dst, const void* a, Round round, size_t n);

  Binary binary[static_cast<size_t>(Op2::kCount)][kDTypes];
  Unary unary[static_cast<size_t>(Op1::kCount)][kDTypes];
  Scalar scalar[static_cast<size_t>(OpScalar::kCount)][kDTypes];
  Cast cast[kDTypes][kDTypes];  // [from][to]
  // The forms that read half and accumulate in float.
  Binary mulAddDstHalf;
  Scalar axpyHalf;
  // These are of half on 3510, which keeps the product in float; the others round it to half first, as `binary` and `scalar` do.
  struct {
    Binary mulAddDst, fusedMulAdd, mulAddRelu;
    Scalar axpy;
  } wideProduct;
  // Per repeat, the sum of its first n (<= 64) lanes as the hardware's binary tree; lanes that take no part count as 0.
  void (*treeSumFloat)(const float* a, size_t n, size_t step, size_t repeats, float* out);
  // Bit i of bits = a[i] op b[i]; n is a multiple of 8. A step of 0 compares with b[0] throughout.
  using CompareLanes = void (*)(uint8_t* bits, const void* a, const void* b, size_t bStep,
                                size_t n);
  CompareLanes compare[6][kDTypes];  // by Compare
  // dst[i] = bit i ? a[i] : b[i], by the width of an element: 2 or 4 bytes. dst may be a or b.
  using SelectLanes = void (*)(void* dst, const uint8_t* bits, const void* a, const void* b,
                               size_t bStep, size_t n);
  SelectLanes select2;
  SelectLanes select4;
  // Vector registers have more types and operations. What is above serves here too, once ShareWithRegisters has been called.
  Binary regBinary[static_cast<size_t>(RegOp2::kCount)][kDTypes];
  Unary regUnary[static_cast<size_t>(RegOp1::kCount)][kDTypes];
  CompareLanes regCompare[6][kDTypes];
  // Bytes from large tensors and into them: memory behind the source is asked for early, and the destination goes past the
  // host's caches. Other threads may read it once a lock has been taken or released.
  using Copy = void (*)(uint8_t* dst, const uint8_t* src, size_t n);
  Copy load;
  Copy stream;
};

const LaneTable& Lanes();
// In place of lanes that a board does otherwise.
void ApplyAlternatives(LaneTable* table);
void ShareWithRegisters(LaneTable* table);

}  // namespace aclsim
