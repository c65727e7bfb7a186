// SPDX-License-Identifier: Apache-2.0
// The corpus of faulty kernels: correct kernels of the usual shapes, each with small edits that plant one fault.
//   EDIT(name, good, bad)   the statement `good`, or `bad` in the kernel with the fault `name`
//   KERNEL(Shape, fault)    the entry point Shape_fault; Shape_none is the correct kernel
// A line that a report must name ends in "@label"; corpus.py says which fault is reported as what and where.
#ifndef TESTS_SIM_FAULTY_CORPUS_H_
#define TESTS_SIM_FAULTY_CORPUS_H_

#include "kernel_operator.h"

namespace corpus {

using namespace AscendC;

constexpr uint64_t Id(const char* name) {
  uint64_t hash = 1469598103934665603ull;
  for (; *name != '\0'; ++name) {
    hash = (hash ^ static_cast<uint64_t>(*name)) * 1099511628211ull;
  }
  return hash;
}

#define EDIT(name, good, bad)              \
  if constexpr (kFault == Id(#name)) {     \
    bad;                                   \
  } else {                                 \
    good;                                  \
  }
// A value instead of a statement.
#define PICK(name, good, bad) (kFault == Id(#name) ? (bad) : (good))

#define KERNEL(Shape, fault)                                                                  \
  extern "C" __global__ __aicore__ void Shape##_##fault(GM_ADDR x, GM_ADDR y, GM_ADDR z,      \
                                                        GM_ADDR workspace, GM_ADDR tiling) {  \
    GET_TILING_DATA_WITH_STRUCT(Tiling, t, tiling);                                           \
    Shape<Id(#fault)> kernel;                                                                 \
    kernel.Run(x, y, z, workspace, t);                                                        \
  }

struct Tiling {
  uint32_t total;    // elements of a tensor
  uint32_t perCore;  // elements, or rows, of each core but the last
  uint32_t tile;     // elements of a full tile
  uint32_t rows;
  uint32_t columns;
};

constexpr uint32_t kFloatsPerBlock = 8;

template <typename T>
__aicore__ inline GlobalTensor<T> Global(GM_ADDR address) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(address));  // @make_tensor
  return tensor;
}

__aicore__ inline uint32_t Least(uint32_t a, uint32_t b) { return a < b ? a : b; }
__aicore__ inline uint32_t RoundUp(uint32_t value, uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}
// count elements of T, byte by byte.
template <typename T>
__aicore__ inline DataCopyExtParams Bytes(uint32_t count) {
  return DataCopyExtParams(1, count * sizeof(T), 0, 0, 0);
}

}  // namespace corpus

#endif  // TESTS_SIM_FAULTY_CORPUS_H_
