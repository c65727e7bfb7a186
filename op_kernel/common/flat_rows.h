// SPDX-License-Identifier: Apache-2.0
// Short rows in vector registers (Ascend 950): what is done to each element alone takes the rows of a tile as one
// run of elements, 64 at a time, so that no lane is empty and each access is aligned, whatever the length of a row.
// Sums alone look at rows, each from its first element on, and leave one for every element of theirs.
#ifndef OP_KERNEL_COMMON_FLAT_ROWS_H_
#define OP_KERNEL_COMMON_FLAT_ROWS_H_

#include "common/register_rows.h"

#if OP_KERNEL_REGISTERS

namespace rowreduce {

// Buffers of elements and of fp32 lanes hold whole registers of 64, and f kBehindRows more: the last row is read
// as far as a register goes.
template <typename T, typename Step>
class FlatRows {
 public:
  // f = f(g, y), which may lie in g where that is fp32.
  __aicore__ inline static void Prepare(__ubuf__ float* f, __ubuf__ T* y, __ubuf__ T* g,
                                        uint32_t count) {
    const uint16_t registers = RegistersOf(count);
    __VEC_SCOPE__ {
      LaneMask all = reg::CreateMask<float, reg::MaskPattern::ALL>();
      for (uint16_t i = 0; i < registers; ++i) {
        Lanes a;
        LoadLanes(a, g + i * kRegisterLanes, all);
        if constexpr (!Step::kSumOfG) {
          Lanes b;
          LoadLanes(b, y + i * kRegisterLanes, all);
          Step::Prepare(a, b, all);
        }
        reg::StoreAlign(f + i * kRegisterLanes, a, all);
      }
    }
  }

  // sums[i] = the sum over the row of f[i], of rows of at most a register. Sums that may start anywhere are stored
  // in four sequences, of a fourth of the rows each: a store waits for the one before it.
  template <bool kAligned>
  __aicore__ inline static void Sum(__ubuf__ float* sums, __ubuf__ float* f, uint32_t length,
                                    uint16_t rows) {
    const uint16_t fourth = rows / 4;
    const uint16_t rest = rows % 4;
    const uint16_t any = fourth > 0 ? 1 : 0;
    const uint32_t apart = fourth * length;
    uint32_t inRow = length;
    __VEC_SCOPE__ {
      LaneMask all = reg::CreateMask<float, reg::MaskPattern::ALL>();
      LaneMask row = reg::UpdateMask<float>(inRow);
      reg::UnalignRegForStore held0;
      reg::UnalignRegForStore held1;
      reg::UnalignRegForStore held2;
      reg::UnalignRegForStore held3;
      for (uint16_t r = 0; r < fourth; ++r) {
        const uint32_t at0 = r * length;
        const uint32_t at1 = at0 + apart;
        const uint32_t at2 = at1 + apart;
        const uint32_t at3 = at2 + apart;
        SumRow<kAligned>(sums + at0, held0, f + at0, length, row, all);
        SumRow<kAligned>(sums + at1, held1, f + at1, length, row, all);
        SumRow<kAligned>(sums + at2, held2, f + at2, length, row, all);
        SumRow<kAligned>(sums + at3, held3, f + at3, length, row, all);
      }
      for (uint16_t r = 0; r < rest; ++r) {
        const uint32_t at = 4 * apart + r * length;
        SumRow<kAligned>(sums + at, held3, f + at, length, row, all);
      }
      if constexpr (!kAligned) {
        for (uint16_t i = 0; i < any; ++i) {
          End(sums + apart, held0);
          End(sums + 2 * apart, held1);
          End(sums + 3 * apart, held2);
        }
        End(sums + rows * length, held3);
      }
    }
  }

  // out = h(f, sums * y')
  __aicore__ inline static void Combine(__ubuf__ T* out, __ubuf__ float* sums, __ubuf__ float* f,
                                        __ubuf__ T* y, uint32_t count) {
    const uint16_t registers = RegistersOf(count);
    __VEC_SCOPE__ {
      LaneMask all = reg::CreateMask<float, reg::MaskPattern::ALL>();
      for (uint16_t i = 0; i < registers; ++i) {
        Lanes a;
        Lanes b;
        Lanes s;
        reg::LoadAlign(a, f + i * kRegisterLanes);
        LoadLanes(b, y + i * kRegisterLanes, all);
        reg::LoadAlign(s, sums + i * kRegisterLanes);
        if constexpr (Step::kSumOfG) {
          Step::Prepare(a, b, all);
        }
        reg::Mul(b, b, s, all);
        Step::Combine(a, a, b, all);
        StoreLanes(out + i * kRegisterLanes, a, all);
      }
    }
  }

  // All three, a row at a time, whose sum stays in a register: for few rows, which start at whole blocks.
  __aicore__ inline static void Whole(__ubuf__ T* out, __ubuf__ T* y, __ubuf__ T* g,
                                      uint32_t length, uint16_t rows) {
    uint32_t inRow = length;
    __VEC_SCOPE__ {
      LaneMask all = reg::CreateMask<float, reg::MaskPattern::ALL>();
      LaneMask row = reg::UpdateMask<float>(inRow);
      for (uint16_t r = 0; r < rows; ++r) {
        Lanes a;
        Lanes b;
        Lanes s;
        LoadLanes(a, g + r * length, all);
        LoadLanes(b, y + r * length, all);
        Step::Prepare(a, b, all);
        reg::Reduce<reg::ReduceType::SUM>(s, a, row);
        reg::Duplicate(s, s, all);
        reg::Mul(b, b, s, all);
        Step::Combine(a, a, b, all);
        StoreLanes(out + r * length, a, row);
      }
    }
  }

 private:
  template <bool kAligned>
  __aicore__ inline static void SumRow(__ubuf__ float* sums, reg::UnalignRegForStore& held,
                                       __ubuf__ float* f, uint32_t length, LaneMask& row,
                                       LaneMask& all) {
    Lanes a;
    if constexpr (kAligned) {
      reg::LoadAlign(a, f);
    } else {
      reg::UnalignRegForLoad rest;
      reg::LoadUnAlignPre(rest, f);
      reg::LoadUnAlign(a, rest, f);
    }
    reg::Reduce<reg::ReduceType::SUM>(a, a, row);
    reg::Duplicate(a, a, all);
    if constexpr (kAligned) {
      reg::StoreAlign(sums, a, row);
    } else {
      reg::StoreUnAlign(sums, a, held, length);
    }
  }

  // What the stores in front of `end` hold back.
  __aicore__ inline static void End(__ubuf__ float* end, reg::UnalignRegForStore& held) {
    reg::StoreUnAlignPost(end, held, 0);
  }
};

}  // namespace rowreduce

#endif  // OP_KERNEL_REGISTERS
#endif  // OP_KERNEL_COMMON_FLAT_ROWS_H_
