// SPDX-License-Identifier: Apache-2.0
// This file computes in the vector registers of Ascend 950. What lies between a load and a store
// never sees UB, so 16-bit operands need no fp32 work area and no instruction for it. A register
// has 256 bytes: 64 fp32 lanes.
#ifndef OP_KERNEL_COMMON_REGISTERS_H_
#define OP_KERNEL_COMMON_REGISTERS_H_

#include <type_traits>

#include "common/vector_ops.h"

#if OP_KERNEL_REGISTERS

namespace rowreduce {

constexpr uint32_t kRegisterBytes = 256;
constexpr uint32_t kRegisterLanes = kRegisterBytes / sizeof(float);

namespace reg = AscendC::MicroAPI;

using Lanes = reg::RegTensor<float>;
using LaneMask = reg::MaskReg;

constexpr reg::CastTrait kWidenEven = {reg::RegLayout::ZERO, reg::SatMode::UNKNOWN,
                                       reg::MaskMergeMode::ZEROING, AscendC::RoundMode::UNKNOWN};
constexpr reg::CastTrait kWidenOdd = {reg::RegLayout::ONE, reg::SatMode::UNKNOWN,
                                      reg::MaskMergeMode::ZEROING, AscendC::RoundMode::UNKNOWN};
constexpr reg::CastTrait kNarrowEven = {reg::RegLayout::ZERO, reg::SatMode::NO_SAT,
                                        reg::MaskMergeMode::ZEROING, AscendC::RoundMode::CAST_RINT};
constexpr reg::CastTrait kNarrowOdd = {reg::RegLayout::ONE, reg::SatMode::NO_SAT,
                                       reg::MaskMergeMode::ZEROING, AscendC::RoundMode::CAST_RINT};

template <typename T>
__aicore__ inline __ubuf__ T* InUb(const AscendC::LocalTensor<T>& tensor) {
  return reinterpret_cast<__ubuf__ T*>(tensor.GetPhyAddr());
}

__aicore__ inline uint16_t RegistersOf(uint32_t lanes) {
  return static_cast<uint16_t>((lanes + kRegisterLanes - 1) / kRegisterLanes);
}

// LoadLanes loads 64 elements from a whole block on as fp32 lanes. StoreLanes is the way back.
template <typename T>
__aicore__ inline void LoadLanes(Lanes& dst, __ubuf__ T* at, LaneMask& mask) {
  if constexpr (std::is_same_v<T, float>) {
    reg::LoadAlign(dst, at);
  } else {
    reg::RegTensor<T> elements;
    reg::LoadAlign<T, reg::LoadDist::DIST_UNPACK_B16>(elements, at);
    reg::Cast<float, T, kWidenEven>(dst, elements, mask);
  }
}

template <typename T>
__aicore__ inline void StoreLanes(__ubuf__ T* at, Lanes& src, LaneMask& mask) {
  if constexpr (std::is_same_v<T, float>) {
    reg::StoreAlign(at, src, mask);
  } else {
    reg::RegTensor<T> elements;
    reg::Cast<T, float, kNarrowEven>(elements, src, mask);
    reg::StoreAlign<T, reg::StoreDist::DIST_PACK_B32>(at, elements, mask);
  }
}

// RegisterColumns adds up the columns of slabs. Rows are `pitch` elements, which are whole blocks,
// and follow each other. 64 columns are the lanes of a register; rows are added to one that stays
// there until their results are stored. Even and odd rows have a register of sums each: which
// elements meet, and when, follows from the number of rows. Up to kBehindRegisters bytes are read
// behind the last row.
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

  // sums = the sum of f(g, y) over rows. If `onTop`, it is added to what `sums` holds.
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
#endif  // OP_KERNEL_COMMON_REGISTERS_H_
