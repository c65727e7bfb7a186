// SPDX-License-Identifier: Apache-2.0
// Columns in vector registers (Ascend 950): 64 columns of a slab are the lanes of a register, and its rows are added
// to one that stays there until their results are stored. There is no fp32 work area, and no instruction takes lanes
// apart. Even and odd rows have a register of sums each: what meets, and when, follows from the number of rows.
#ifndef OP_KERNEL_COMMON_REGISTER_COLUMNS_H_
#define OP_KERNEL_COMMON_REGISTER_COLUMNS_H_

#include "common/register_rows.h"

#if OP_KERNEL_REGISTERS

namespace rowreduce {

// Rows of slabs are whole blocks of 32 bytes, `pitch` elements, and follow each other. kBehindRows bytes may be read
// behind the last.
template <typename T, typename Step>
class RegisterColumns {
 public:
  // out = h(f, s * y'), where s is the sum of f(g, y) over the rows of a slab.
  __aicore__ inline static void Reduce(__ubuf__ T* out, __ubuf__ T* y, __ubuf__ T* g,
                                       uint16_t slabs, uint16_t rows, uint32_t pitch) {
    const uint16_t registers = RegistersOf(pitch);
    __VEC_SCOPE__ {
      for (uint16_t u = 0; u < slabs; ++u) {
        uint32_t left = pitch;
        for (uint16_t c = 0; c < registers; ++c) {
          LaneMask mask = reg::UpdateMask<float>(left);
          const uint32_t at = u * rows * pitch + c * kRegisterLanes;
          Lanes s;
          SumRows(s, y + at, g + at, rows, pitch, mask);
          CombineRows(out + at, s, y + at, g + at, rows, pitch, mask);
        }
      }
    }
  }

  // sums = the sum of f(g, y) over rows. onTop: added to what sums is.
  __aicore__ inline static void Sum(__ubuf__ float* sums, __ubuf__ T* y, __ubuf__ T* g,
                                    uint16_t rows, uint32_t pitch, bool onTop) {
    const uint16_t registers = RegistersOf(pitch);
    const uint16_t before = onTop ? 1 : 0;
    uint32_t left = pitch;
    __VEC_SCOPE__ {
      for (uint16_t c = 0; c < registers; ++c) {
        LaneMask mask = reg::UpdateMask<float>(left);
        const uint32_t at = c * kRegisterLanes;
        Lanes s;
        SumRows(s, y + at, g + at, rows, pitch, mask);
        for (uint16_t i = 0; i < before; ++i) {
          Lanes b;
          reg::LoadAlign(b, sums + at);
          reg::Add(s, b, s, mask);
        }
        reg::StoreAlign(sums + at, s, mask);
      }
    }
  }

  // out = h(f, sums * y')
  __aicore__ inline static void Combine(__ubuf__ T* out, __ubuf__ float* sums, __ubuf__ T* y,
                                        __ubuf__ T* g, uint16_t rows, uint32_t pitch) {
    const uint16_t registers = RegistersOf(pitch);
    uint32_t left = pitch;
    __VEC_SCOPE__ {
      for (uint16_t c = 0; c < registers; ++c) {
        LaneMask mask = reg::UpdateMask<float>(left);
        const uint32_t at = c * kRegisterLanes;
        Lanes s;
        reg::LoadAlign(s, sums + at);
        CombineRows(out + at, s, y + at, g + at, rows, pitch, mask);
      }
    }
  }

 private:
  __aicore__ inline static void SumRows(Lanes& s, __ubuf__ T* y, __ubuf__ T* g, uint16_t rows,
                                        uint32_t pitch, LaneMask& mask) {
    const uint16_t pairs = rows / 2;
    const uint16_t rest = rows % 2;
    Lanes b;
    reg::Duplicate(s, 0.0F, mask);
    reg::Duplicate(b, 0.0F, mask);
    for (uint16_t r = 0; r < pairs; ++r) {
      const uint32_t at = 2 * r * pitch;
      AddRow(s, y + at, g + at, mask);
      AddRow(b, y + at + pitch, g + at + pitch, mask);
    }
    for (uint16_t r = 0; r < rest; ++r) {
      const uint32_t at = 2 * pairs * pitch;
      AddRow(s, y + at, g + at, mask);
    }
    reg::Add(s, s, b, mask);
  }

  __aicore__ inline static void AddRow(Lanes& s, __ubuf__ T* y, __ubuf__ T* g, LaneMask& mask) {
    Lanes f;
    LoadLanes(f, g, mask);
    if constexpr (!Step::kSumOfG) {
      Lanes b;
      LoadLanes(b, y, mask);
      Step::Prepare(f, b, mask);
    }
    reg::Add(s, s, f, mask);
  }

  __aicore__ inline static void CombineRows(__ubuf__ T* out, Lanes& s, __ubuf__ T* y, __ubuf__ T* g,
                                            uint16_t rows, uint32_t pitch, LaneMask& mask) {
    for (uint16_t r = 0; r < rows; ++r) {
      const uint32_t at = r * pitch;
      Lanes f;
      Lanes b;
      LoadLanes(f, g + at, mask);
      LoadLanes(b, y + at, mask);
      Step::Prepare(f, b, mask);
      reg::Mul(b, b, s, mask);
      Step::Combine(f, f, b, mask);
      StoreLanes(out + at, f, mask);
    }
  }
};

}  // namespace rowreduce

#endif  // OP_KERNEL_REGISTERS
#endif  // OP_KERNEL_COMMON_REGISTER_COLUMNS_H_
