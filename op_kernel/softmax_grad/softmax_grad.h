// SPDX-License-Identifier: Apache-2.0
// grad_x[a, r, b] = g * y - y * sum_r(g * y)     on a view [A, R, B]; y = softmax, g = grad_softmax
//
// Every (a, b) is reduced in an order that depends on R, B and the dtype only: results do not depend
// on the number of cores or of rows in a tile. fp16 and bf16 are widened to fp32 on
// entry and rounded once (to nearest even) on exit. NaN and Inf follow IEEE through the formula as
// written. Error against float64: 1 ulp of fp16 and bf16; fp32 4 ulp of the largest |g * y| and
// |y| * sum |g * y| of its row.
//
// Tiling keys, the paths of common/row_reduce.h:                       GM traffic / floor
//   1  B == 1, a row fits: as many rows as UB holds per tile           1.00
//   2  B == 1, it does not: chunks in the UB of several cores          1.00 ... 1.67
//   3  B  > 1, [R, b] fits: slabs, or tiles of b columns of a slab     1.00
//   4  B  > 1, 256 B of columns do not: as 2, one core if it can       1.00 ... 1.67
//   5  short slabs that are no whole blocks: as 1 and 3, transposed    1.00
//   6  B == 1, other rows that are no multiple of 8: as 1, packed      1.00
//   7  B == 1, a row fits, Ascend 950: as 1, in registers              1.00
//   8  B == 1, 16-bit rows of these, up to 465: groups of 16           1.00
//
// UB, L = tileLanes (op_host/common/row_reduce_whole.cpp and _chunks.cpp keep the budgets):
//   1, 3   in 2 x 2L * sizeof(T), out L * sizeof(T), 8L of work if T is a 16-bit type,
//          key 1 also 36 B per row of the tile, and 320 B or more where R is no multiple of 8,
//          key 3 also the sums of folded columns, and up to 8 KB to turn them
//   5      in as 1, out 2 x L * sizeof(T), 8L of work for all types
//   6      as 1
//   7      in as 1, out 2 x L * sizeof(T), 4 B per row of the tile; rows of up to 128 B: 8L of work if T
//          is a 16-bit type, else 4L
//   8      as 1 without the sums, 4L of images, 6 KB of bits
//   2, 4   in ring x 2L * sizeof(T), out 2 x L * sizeof(T), work as 1, 2L of halves for fp32 (packed
//          rows: up to 9 KB for a circle), 2 KB for the sum of a part, the sums of all parts. On Ascend
//          950, as of key 3, neither work nor halves nor a circle. Workspace: six rounds of the sums of all parts
#ifndef OP_KERNEL_SOFTMAX_GRAD_SOFTMAX_GRAD_H_
#define OP_KERNEL_SOFTMAX_GRAD_SOFTMAX_GRAD_H_

#include "common/interleaved_rows.h"
#include "common/long_axes.h"
#include "common/row_reduce_registers.h"
#include "common/short_rows.h"
#include "common/whole_rows.h"
#include "common/whole_slabs.h"

namespace softmaxgrad {

struct Step {
  static constexpr bool kSumOfG = false;

  __aicore__ inline void Prepare(const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& y, uint32_t count) const {
    AscendC::Mul(f, f, y, static_cast<int32_t>(count));
  }
  __aicore__ inline void Combine(const AscendC::LocalTensor<float>& dst,
                                 const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& sy, uint32_t count) const {
    AscendC::Sub(dst, f, sy, static_cast<int32_t>(count));
  }
#if OP_KERNEL_REGISTERS
  using Lanes = rowreduce::Lanes;

  __aicore__ inline static void Prepare(Lanes& f, Lanes& y, rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Mul(f, f, y, mask);
  }
  __aicore__ inline static void Combine(Lanes& dst, Lanes& f, Lanes& sy,
                                        rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Sub(dst, f, sy, mask);
  }
#endif
};

}  // namespace softmaxgrad

#endif  // OP_KERNEL_SOFTMAX_GRAD_SOFTMAX_GRAD_H_
