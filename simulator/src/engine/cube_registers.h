// SPDX-License-Identifier: Apache-2.0
// Instructions of the matrix unit leave these in registers for others; and the unit flags of L0C.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ascendc/cube_abi.h"
#include "engine/fractal_origins.h"

namespace aclsim {

class Core;

// The operands of an Mmad as numbers; the storage is used again by the next one.
template <typename T>
struct CubeOperands {
  std::vector<T> a, b, tail;
  std::vector<T> results;  // of C as halves
};

struct CubeRegisters {
  std::optional<FmatrixCtl> map;       // SetFmatrix, or the last 3D load
  std::optional<uint64_t> padding;     // SetLoadDataPaddingValue, or the last 3D load
  uint64_t repeatTimes = 1;            // SetLoadDataRepeat
  std::optional<uint64_t> loadStride;  // SetLoadDataRepeatWithStride
  uint64_t boundary = 0;               // SetLoadDataBoundary
  bool hf32 = false;                   // SetHF32Mode
  bool hf32TowardZero = false;         // SetHF32TransMode
  uint32_t hf32Site = 0;               // of the call that switched it on
  std::optional<Ub> quantTensor;       // SetFixPipeConfig
  std::optional<uint64_t> quantWord;   // SetFixpipePreQuantFlag
  uint64_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;  // SetFixpipeNz2ndFlag
  bool ndSet = false;
  CubeOperands<float> floats;
  CubeOperands<int32_t> integers;
  FractalOrigins origins;  // kept while instructions are observed
};

// One bit for each 512 bytes of L0C by which Mmad and Fixpipe wait for each other. A tile is what one Mmad with unitFlag 3 has flipped.
struct UnitTile {
  uint64_t begin = 0;  // in the image
  uint64_t bytes = 0;
  bool full =
      false;  // flipped by the last Mmad, so that the next one waits until a Fixpipe has cleared it
  uint32_t flips = 0;  // that no Fixpipe has taken
  uint32_t site = 0;   // of the last Mmad that flipped it
};
using UnitTiles = std::vector<UnitTile>;

// Around an Mmad with unitFlag 2 or 3 on [begin, begin + bytes), or a Fixpipe with unitFlag 3: what waits before it, what it sets.
void AwaitUnitFlag(Core& core, bool mmad, uint64_t begin, uint64_t bytes);
void PassUnitFlag(Core& core, bool mmad, uint64_t begin, uint64_t bytes);
// SetFixPipeConfig with isUnitFlag: a Fixpipe that takes all flips.
void ClearUnitFlags(Core& core);
// Every flip must have been taken.
void CheckUnitFlags(Core& core);

}  // namespace aclsim
