// SPDX-License-Identifier: Apache-2.0
// What the kernels of validate.py share: their parameters, a core's part of the work, and the loop of an elementwise kernel.
#pragma once

#include "kernel_operator.h"

using namespace AscendC;

namespace {

struct Parameters {
  uint64_t rows;     // of a matrix that is cut by rows
  uint64_t columns;  // elements
  uint32_t tile;     // elements of a copy, or columns of a tile
  uint32_t tileRows;
  uint32_t times;   // how often all of it is done
  uint32_t parts;   // columns are walked in so many parts, each of them `times`
  uint32_t shift;   // cores start at different places
  uint32_t bypass;  // reads do not stay in L2
  uint32_t at[6];   // UB addresses
  uint32_t stride[2];
};

Parameters ParametersAt(GM_ADDR address) {
  Parameters parameters;
  __builtin_memcpy(&parameters, address, sizeof(parameters));
  return parameters;
}

struct Slice {
  uint64_t begin = 0, end = 0;
};
// Rows of this core; the first cores take one more.
Slice RowsOf(uint64_t rows) {
  const uint64_t core = GetBlockIdx();
  const uint64_t each = rows / GetBlockNum(), more = rows % GetBlockNum();
  const uint64_t begin = core * each + (core < more ? core : more);
  return {begin, begin + each + (core < more ? 1 : 0)};
}

template <typename T>
GlobalTensor<T> Global(GM_ADDR address, uint64_t from, uint64_t count) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address) + from, count);
  return tensor;
}
template <typename T>
LocalTensor<T> Local(uint32_t address, uint32_t count) {
  return LocalTensor<T>(TPosition::VECCALC, address, count);
}

// z = f(x [, y]) in queues of two buffers, as elementwise kernels are written.
template <typename T, int inputs>
void Elementwise(GM_ADDR x, GM_ADDR y, GM_ADDR z, const Parameters& p,
                 void (*compute)(const LocalTensor<T>&, const LocalTensor<T>*, uint32_t)) {
  const uint64_t total = p.rows * p.columns;
  const uint64_t tiles = (total + p.tile - 1) / p.tile;
  const Slice mine = RowsOf(tiles);
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> in[inputs];
  TQue<QuePosition::VECOUT, 1> out;
  GM_ADDR source[2] = {x, y};
  for (TQue<QuePosition::VECIN, 1>& queue : in) {
    pipe.InitBuffer(queue, 2, p.tile * sizeof(T));
  }
  pipe.InitBuffer(out, 2, p.tile * sizeof(T));
  for (uint64_t tile = mine.begin; tile < mine.end; ++tile) {
    const uint64_t at = tile * p.tile;
    const auto now = static_cast<uint32_t>(total - at < p.tile ? total - at : p.tile);
    LocalTensor<T> from[inputs];
    for (int i = 0; i < inputs; ++i) {
      from[i] = in[i].template AllocTensor<T>();
      DataCopy(from[i], Global<T>(source[i], at, now), now);
      in[i].EnQue(from[i]);
    }
    for (int i = 0; i < inputs; ++i) {
      from[i] = in[i].template DeQue<T>();
    }
    LocalTensor<T> to = out.template AllocTensor<T>();
    compute(to, from, now);
    for (int i = 0; i < inputs; ++i) {
      in[i].FreeTensor(from[i]);
    }
    out.EnQue(to);
    to = out.template DeQue<T>();
    DataCopy(Global<T>(z, at, now), to, now);
    out.FreeTensor(to);
  }
}

}  // namespace
