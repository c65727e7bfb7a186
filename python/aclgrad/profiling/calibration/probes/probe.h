// SPDX-License-Identifier: Apache-2.0
// What the kernels of the probes share. Each has the parameters (in, out, params): GM, and 16 numbers of int32_t.
#pragma once

#include "kernel_operator.h"

// A row of an .inc file in a switch over the rows' numbers: the call, where the type has `width`.
#define PROBE(number, name, widths, ...)     \
  case number:                               \
    if constexpr (((widths) & width) != 0) { \
      __VA_ARGS__;                           \
    }                                        \
    break;

namespace probe {

constexpr uint32_t kRepeatBytes = 256;

__aicore__ inline int32_t Param(GM_ADDR params, uint32_t index) {
  AscendC::GlobalTensor<int32_t> numbers;
  numbers.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(params), 16);
  return numbers.GetValue(index);
}

template <typename T>
constexpr uint32_t kLanes = kRepeatBytes / sizeof(T);

// TransDataTo5HD of so many repeats; the 16 rows lie in bank groups of their own.
template <typename T>
__aicore__ inline void Transposed(const AscendC::LocalTensor<T>& d,
                                  const AscendC::LocalTensor<T>& a, uint8_t repeats) {
  constexpr uint32_t kBlock = 32;
  const uint32_t row = (static_cast<uint32_t>(repeats) + 1) * kBlock / sizeof(T);
  uint64_t to[16], from[16];
  for (uint32_t i = 0; i < 16; ++i) {
    to[i] = reinterpret_cast<uint64_t>(d[i * row].GetPhyAddr());
    from[i] = reinterpret_cast<uint64_t>(a[i * row].GetPhyAddr());
  }
  const uint16_t step = repeats > 1 ? 1 : 0;
  AscendC::TransDataTo5HD<T>(to, from, {false, false, repeats, step, step});
}

}  // namespace probe
