// SPDX-License-Identifier: Apache-2.0
// Vector functions of Ascend 950 with the structures of published ones: board.py names them. `shift` is the variant, `times` how often.
#include "kernels.h"

namespace {

constexpr uint32_t kLanes = 64;  // floats of a register
using Register = Reg::RegTensor<float>;

// x / (1 + exp(b (x + a x^3))), and its results in y.
__simd_vf__ inline void Gelu(Register& y, Register& x, Reg::MaskReg& mask) {
  Reg::Mul(y, x, x, mask);
  Reg::Mul(y, y, x, mask);
  Reg::Muls(y, y, 0.044715f, mask);
  Reg::Add(y, x, y, mask);
  Reg::Muls(y, y, -1.595769f, mask);
  Reg::Exp(y, y, mask);
  Reg::Adds(y, y, 1.0f, mask);
  Reg::Div(y, x, y, mask);
}

// exp(2 - (y + 1)^2 / 2)
__simd_vf__ inline void Bell(Register& y, Reg::MaskReg& mask) {
  Reg::Adds(y, y, 1.0f, mask);
  Reg::Mul(y, y, y, mask);
  Reg::Muls(y, y, -0.5f, mask);
  Reg::Adds(y, y, 2.0f, mask);
  Reg::Exp(y, y, mask);
}

__simd_vf__ inline void GeluLoop(__ubuf__ float* from, __ubuf__ float* to, uint32_t count) {
  Register x, y;
  const auto loops = static_cast<uint16_t>(count / kLanes);
  for (uint16_t i = 0; i < loops; ++i) {
    Reg::MaskReg mask = Reg::UpdateMask<float>(count);
    Reg::LoadAlign(x, from + i * kLanes);
    Gelu(y, x, mask);
    Reg::StoreAlign(to + i * kLanes, y, mask);
  }
}

// Both formulas in one loop, of `lanes` at a time.
__simd_vf__ inline void GeluBellLoop(__ubuf__ float* from, __ubuf__ float* to, uint32_t count,
                                     uint32_t lanes) {
  Register x, y;
  const Reg::MaskReg half = Reg::CreateMask<float, Reg::MaskPattern::VL32>();
  const auto loops = static_cast<uint16_t>(count / lanes);
  for (uint16_t i = 0; i < loops; ++i) {
    Reg::MaskReg mask = lanes < kLanes ? half : Reg::UpdateMask<float>(count);
    Reg::LoadAlign(x, from + i * lanes);
    Gelu(y, x, mask);
    Bell(y, mask);
    Reg::StoreAlign(to + i * lanes, y, mask);
  }
}

// One loop after the other.
__simd_vf__ inline void GeluThenBell(__ubuf__ float* from, __ubuf__ float* to, uint32_t count) {
  Register y;
  uint32_t again = count;
  const auto loops = static_cast<uint16_t>(count / kLanes);
  GeluLoop(from, to, count);
  Reg::LocalMemBar<Reg::MemType::VEC_STORE, Reg::MemType::VEC_LOAD>();
  for (uint16_t i = 0; i < loops; ++i) {
    Reg::MaskReg mask = Reg::UpdateMask<float>(again);
    Reg::LoadAlign(y, to + i * kLanes);
    Bell(y, mask);
    Reg::StoreAlign(to + i * kLanes, y, mask);
  }
}

// Rows of a softmax, `at` a time in registers of their own, with masks that are counted or whole.
template <uint32_t at, bool counted>
__simd_vf__ inline void SoftmaxRows(__ubuf__ float* from, __ubuf__ float* part, __ubuf__ float* to,
                                    uint16_t rows, uint16_t columns) {
  const auto blocks = static_cast<uint16_t>(columns / kLanes);
  const auto turns = static_cast<uint16_t>(rows / at);
  const uint32_t apart = turns * columns;
  Reg::MaskReg whole = Reg::CreateMask<float, Reg::MaskPattern::ALL>();
  Reg::MaskReg mask = whole;
  Register x[at], most[at], y[at];
  for (uint16_t i = 0; i < turns; ++i) {
    uint32_t left = columns;
    for (uint32_t k = 0; k < at; ++k) Reg::Duplicate(most[k], -1e30f, whole);
    for (uint16_t j = 0; j < blocks; ++j) {
      if constexpr (counted) mask = Reg::UpdateMask<float>(left);
      for (uint32_t k = 0; k < at; ++k) {
        Reg::LoadAlign(x[k], from + i * columns + j * kLanes + k * apart);
      }
      for (uint32_t k = 0; k < at; ++k) {
        Reg::Max<float, Reg::MaskMergeMode::MERGING>(most[k], most[k], x[k], mask);
      }
    }
    for (uint32_t k = 0; k < at; ++k) Reg::ReduceMax(most[k], most[k], whole);
    for (uint32_t k = 0; k < at; ++k) Reg::Duplicate(most[k], most[k], whole);
    left = columns;
    for (uint16_t j = 0; j < blocks; ++j) {
      if constexpr (counted) mask = Reg::UpdateMask<float>(left);
      for (uint32_t k = 0; k < at; ++k) {
        Reg::LoadAlign(x[k], from + i * columns + j * kLanes + k * apart);
      }
      for (uint32_t k = 0; k < at; ++k) Reg::ExpSub(y[k], x[k], most[k], mask);
      for (uint32_t k = 0; k < at; ++k) {
        Reg::StoreAlign(part + i * columns + j * kLanes + k * apart, y[k], mask);
      }
    }
  }
  Reg::LocalMemBar<Reg::MemType::VEC_STORE, Reg::MemType::VEC_LOAD>();
  for (uint16_t i = 0; i < turns; ++i) {
    uint32_t left = columns;
    for (uint32_t k = 0; k < at; ++k) Reg::Duplicate(most[k], 0.0f, whole);
    for (uint16_t j = 0; j < blocks; ++j) {
      if constexpr (counted) mask = Reg::UpdateMask<float>(left);
      for (uint32_t k = 0; k < at; ++k) {
        Reg::LoadAlign(x[k], part + i * columns + j * kLanes + k * apart);
      }
      for (uint32_t k = 0; k < at; ++k) {
        Reg::Add<float, Reg::MaskMergeMode::MERGING>(most[k], most[k], x[k], mask);
      }
    }
    for (uint32_t k = 0; k < at; ++k) Reg::ReduceSum(most[k], most[k], whole);
    for (uint32_t k = 0; k < at; ++k) Reg::Duplicate(most[k], most[k], whole);
    left = columns;
    for (uint16_t j = 0; j < blocks; ++j) {
      if constexpr (counted) mask = Reg::UpdateMask<float>(left);
      for (uint32_t k = 0; k < at; ++k) {
        Reg::LoadAlign(x[k], part + i * columns + j * kLanes + k * apart);
      }
      for (uint32_t k = 0; k < at; ++k) Reg::Div(y[k], x[k], most[k], mask);
      for (uint32_t k = 0; k < at; ++k) {
        Reg::StoreAlign(to + i * columns + j * kLanes + k * apart, y[k], mask);
      }
    }
  }
}

// Sums of 4096 floats, one register at a time or two.
template <uint32_t at>
__simd_vf__ inline void Sums(__ubuf__ float* x, __ubuf__ float* y, __ubuf__ float* z) {
  constexpr uint16_t kTurns = 4096 / kLanes / at;
  constexpr uint32_t kApart = kTurns * kLanes;
  Reg::MaskReg mask = Reg::CreateMask<float, Reg::MaskPattern::ALL>();
  Register a[at], b[at], c[at];
  for (uint16_t i = 0; i < kTurns; ++i) {
    for (uint32_t k = 0; k < at; ++k) {
      Reg::LoadAlign(a[k], x + i * kLanes + k * kApart);
      Reg::LoadAlign(b[k], y + i * kLanes + k * kApart);
    }
    for (uint32_t k = 0; k < at; ++k) Reg::Add(c[k], a[k], b[k], mask);
    for (uint32_t k = 0; k < at; ++k) Reg::StoreAlign(z + i * kLanes + k * kApart, c[k], mask);
  }
}

// Eight registers in blocks of 32 bytes that are `stride` blocks apart: the source's and the result's.
__simd_vf__ inline void Blocks(__ubuf__ float* x, __ubuf__ float* z, uint32_t step, uint32_t stride,
                               uint32_t stepOut, uint32_t strideOut) {
  Reg::MaskReg mask = Reg::CreateMask<float, Reg::MaskPattern::ALL>();
  Register a, b;
  for (uint16_t i = 0; i < 8; ++i) {
    Reg::LoadAlign<float, Reg::DataCopyMode::DATA_BLOCK_COPY>(a, x + i * step, stride, mask);
    Reg::Adds(b, a, 0.0f, mask);
    Reg::StoreAlign<float, Reg::DataCopyMode::DATA_BLOCK_COPY>(z + i * stepOut, b, strideOut, mask);
  }
}

__ubuf__ float* Floats(uint32_t address, uint32_t count) {
  return reinterpret_cast<__ubuf__ float*>(Local<float>(address, count).GetPhyAddr());
}

}  // namespace

extern "C" __global__ __aicore__ void gelu(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  const LocalTensor<float> x = Local<float>(0, p.tile);
  const LocalTensor<float> y = Local<float>(65536, p.tile);
  for (uint32_t time = 0; time < p.times; ++time) {
    if (p.shift == 0) {  // function by function
      Mul(y, x, x, p.tile);
      PipeBarrier<PIPE_V>();
      Mul(y, y, x, p.tile);
      PipeBarrier<PIPE_V>();
      Muls(y, y, 0.044715f, p.tile);
      PipeBarrier<PIPE_V>();
      Add(y, x, y, p.tile);
      PipeBarrier<PIPE_V>();
      Muls(y, y, -1.595769f, p.tile);
      PipeBarrier<PIPE_V>();
      Exp(y, y, p.tile);
      PipeBarrier<PIPE_V>();
      Adds(y, y, 1.0f, p.tile);
      PipeBarrier<PIPE_V>();
      Div(y, x, y, p.tile);
    } else if (p.shift == 1) {
      asc_vf_call<GeluLoop>(Floats(0, p.tile), Floats(65536, p.tile), p.tile);
    } else if (p.shift == 2) {
      asc_vf_call<GeluBellLoop>(Floats(0, p.tile), Floats(65536, p.tile), p.tile, kLanes / 2);
    } else if (p.shift == 3) {
      asc_vf_call<GeluBellLoop>(Floats(0, p.tile), Floats(65536, p.tile), p.tile, kLanes);
    } else {
      asc_vf_call<GeluThenBell>(Floats(0, p.tile), Floats(65536, p.tile), p.tile);
    }
  }
}

extern "C" __global__ __aicore__ void softmax_rows(GM_ADDR, GM_ADDR, GM_ADDR, GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint16_t kRows = 128, kColumns = 128;
  const auto run = [](auto function) {
    constexpr uint32_t kAll = kRows * kColumns;
    function(Floats(0, kAll), Floats(65536, kAll), Floats(131072, kAll), kRows, kColumns);
  };
  if (p.shift == 2) {
    run([](auto... given) { asc_vf_call<SoftmaxRows<1, true>>(given...); });
  } else if (p.shift == 3) {
    run([](auto... given) { asc_vf_call<SoftmaxRows<2, true>>(given...); });
  } else if (p.shift == 4) {
    run([](auto... given) { asc_vf_call<SoftmaxRows<1, false>>(given...); });
  } else {
    run([](auto... given) { asc_vf_call<SoftmaxRows<2, false>>(given...); });
  }
}

extern "C" __global__ __aicore__ void register_banks(GM_ADDR, GM_ADDR, GM_ADDR,
                                                     GM_ADDR parameters) {
  const Parameters p = ParametersAt(parameters);
  constexpr uint32_t kCount = 4096;
  for (uint32_t time = 0; time < p.times; ++time) {
    if (p.shift == 1) {
      asc_vf_call<Sums<1>>(Floats(p.at[0], kCount), Floats(p.at[1], kCount),
                           Floats(p.at[2], kCount));
    } else if (p.shift == 2) {
      asc_vf_call<Sums<2>>(Floats(p.at[0], kCount), Floats(p.at[1], kCount),
                           Floats(p.at[2], kCount));
    } else {
      asc_vf_call<Blocks>(Floats(p.at[0], kCount), Floats(p.at[2], kCount), p.stride[0],
                          p.stride[1], p.tile, p.tileRows);
    }
  }
}
