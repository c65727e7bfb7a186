// SPDX-License-Identifier: Apache-2.0
// The origins of the fractals in L0A and L0B: a matrix that DataCopy (ND to NZ) has put into L1, and the place in that matrix. Mmad cannot tell
// by their numbers that fractals lie in the order of another architecture.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/record.h"

namespace aclsim {

constexpr uint64_t kFractal = 512;  // bytes

// All addresses are offsets in the image of the core's memories, in the order of the program.
class FractalOrigins {
 public:
  struct Origin {
    uint32_t matrix = 0;
    uint64_t row = 0, column = 0;  // in fractals
    bool transposed = false;
    uint32_t site = 0;  // of the load in the kernel
  };

  // Bytes of L1, L0A and L0B that the instruction writes have no origin until one is added.
  void Forget(const Record& record);
  // A matrix in L1, of so many rows and columns of fractals; a column begins columnStep bytes behind the one before.
  void AddMatrix(uint64_t begin, uint64_t columnStep, uint64_t rows, uint64_t columns);
  // A fractal of L0A or L0B, from one of L1.
  void AddFractal(uint64_t to, uint64_t from, bool transposed, uint32_t site);
  // Null: not known.
  const Origin* Of(uint64_t at) const;

 private:
  struct Matrix {
    uint32_t number = 0;
    uint64_t begin = 0, columnStep = 0, rows = 0, columns = 0;
  };
  std::vector<Matrix> matrices_;
  std::map<uint64_t, Origin> fractals_;
  uint32_t last_ = 0;
};

}  // namespace aclsim
