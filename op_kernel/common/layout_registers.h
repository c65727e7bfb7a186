// SPDX-License-Identifier: Apache-2.0
// Layout Registers, of AR on Ascend 950: rows lie in UB as they do in GM, and are computed in vector registers, whose loads
// and stores may start on any element. UB: RegistersUbOf.
//
//   GM        | row 0     | row 1     | row 2     | ..      one piece
//   UB        y of the tile | g of the tile | results | a sum for each row
//   Sum       for each row   load 256 bytes of y and of g -> to fp32 -> f(g, y) -> added up -> one sum, stored
//   Combine   for each row   its sum to all lanes; load y and g -> to fp32 -> h(f, s * y') -> rounded -> stored
//
// Rows of up to 128 bytes are "flat", as they would leave half of a register empty:
//   UB        y | g | results | f in fp32 (of fp32 rows in place of g) | s0 s0 .. s0 s1 s1 .. s1 s2 ..
//   Prepare   for each 64 elements   load y and g -> to fp32 -> f(g, y), stored
//   Sum       for each row           load f -> one sum -> to all lanes -> stored, once for each element
//   Combine   for each 64 elements   load y, f and s -> h(f, s * y') -> rounded -> stored
#ifndef OP_KERNEL_COMMON_LAYOUT_REGISTERS_H_
#define OP_KERNEL_COMMON_LAYOUT_REGISTERS_H_

#include "common/register_rows.h"
#include "common/row_reduce.h"

#if OP_KERNEL_REGISTERS

namespace rowreduce {

// FlatRows computes rows of at most 64 elements. What is done to each element alone takes the rows
// of a tile as one run of elements, 64 at a time: no lane is empty, and each access is aligned.
// Only the sums look at rows, and leave one for each element. Buffers hold whole registers of 64
// lanes. f has kBehindRegisters bytes more, as the last row is read as a whole register.
template <typename T, typename Step>
class FlatRows {
 public:
  // f = f(g, y). It may lie in g where g is fp32.
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

  // sums[i] = the sum over the row of element i. A store that may start anywhere waits for the one before it, so sums are
  // stored in four sequences, of a fourth of the rows each.
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

  // Stores what unaligned stores in front of `end` have held back.
  __aicore__ inline static void End(__ubuf__ float* end, reg::UnalignRegForStore& held) {
    reg::StoreUnAlignPost(end, held, 0);
  }
};

template <typename T, typename Step>
class Registers {
 public:
  using Element = T;
  static constexpr bool kExists = true;

  __aicore__ inline Registers(GM_ADDR y, GM_ADDR g, GM_ADDR out, const RowReduceTilingData& t)
      : tiles(TilesOfCore(t)),
        ub(RegistersUbOf(TileShapeOf(t, sizeof(T)))),
        operands_(y, g, out, t, 0),
        length_(static_cast<uint32_t>(t.reduce)),
        lanes_(static_cast<uint32_t>(t.tileLanes)) {}

  template <typename Loop>
  __aicore__ inline void Init(TPipe* pipe, Loop&) {
    pipe->InitBuffer(sums_, ub.work.bytes);
  }

  template <typename Loop>
  __aicore__ inline void Load(Loop& loop, const Tile& tile) {
    LocalTensor<T> in = loop.AllocIn();
    operands_.HintInputs();
    CopyIn(in, operands_.y_, tile.unit * length_, tile.units * length_);
    CopyIn(in[lanes_], operands_.g_, tile.unit * length_, tile.units * length_);
    loop.EnQueIn(in);
  }

  template <typename Loop>
  __aicore__ inline void Compute(Loop& loop, const Tile& tile, LocalTensor<T>& in) {
    LocalTensor<T> out = loop.AllocOut();
    __ubuf__ T* y = InUb(in);
    __ubuf__ T* g = InUb(in[lanes_]);
    const uint16_t rows = static_cast<uint16_t>(tile.units);
    if (LiesFlat(length_, sizeof(T))) {
      ComputeFlat(InUb(out), y, g, rows);
    } else if (length_ % kBlockElements<T> == 0) {
      ComputeRows<true>(InUb(out), y, g, rows);
    } else {
      ComputeRows<false>(InUb(out), y, g, rows);
    }
    PipeBarrier<PIPE_V>();  // the next tile overwrites the sums
    loop.FreeIn(in);
    loop.EnQueOut(out);
  }

  __aicore__ inline void Store(const LocalTensor<T>& out, const Tile& tile) {
    operands_.HintResults();
    CopyOut(operands_.out_, tile.unit * length_, out, tile.units * length_);
  }

  const CoreTiles tiles;
  const TileUb ub;

 private:
  __aicore__ inline void ComputeFlat(__ubuf__ T* out, __ubuf__ T* y, __ubuf__ T* g, uint16_t rows) {
    using Flat = FlatRows<T, Step>;
    constexpr bool kFp32 = std::is_same_v<T, float>;
    __ubuf__ float* sums = InUb(sums_.template Get<float>());
    __ubuf__ float* f = nullptr;
    if constexpr (kFp32) {
      f = g;
    } else {
      f = sums + lanes_;
    }
    if constexpr (!kFp32 || !Step::kSumOfG) {
      Flat::Prepare(f, y, g, rows * length_);
      PipeBarrier<PIPE_V>();
    }
    if (length_ % kBlockLanes == 0) {
      Flat::template Sum<true>(sums, f, length_, rows);
    } else {
      Flat::template Sum<false>(sums, f, length_, rows);
    }
    PipeBarrier<PIPE_V>();
    Flat::Combine(out, sums, f, y, rows * length_);
  }

  template <bool kAligned>
  __aicore__ inline void ComputeRows(__ubuf__ T* out, __ubuf__ T* y, __ubuf__ T* g, uint16_t rows) {
    __ubuf__ float* sums = InUb(sums_.template Get<float>());
    RegisterRows<T, Step, kAligned>::Sum(sums, y, g, length_, rows);
    PipeBarrier<PIPE_V>();
    RegisterRows<T, Step, kAligned>::Combine(out, sums, y, g, length_, rows);
  }

  Operands<T> operands_;
  const uint32_t length_;  // elements of a row
  const uint32_t lanes_;   // of an operand in a buffer
  TBuf<TPosition::VECCALC> sums_;
};

}  // namespace rowreduce

#else

namespace rowreduce {

template <typename T, typename Step>
struct Registers {
  static constexpr bool kExists = false;
};

}  // namespace rowreduce

#endif  // OP_KERNEL_REGISTERS
#endif  // OP_KERNEL_COMMON_LAYOUT_REGISTERS_H_
