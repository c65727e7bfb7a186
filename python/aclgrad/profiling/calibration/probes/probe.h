// SPDX-License-Identifier: Apache-2.0
// What the kernels of the probes share. Each has the parameters (in, out, params): GM, and 16 numbers of int32_t.
#pragma once

#include "kernel_operator.h"

namespace probe {

constexpr uint32_t kRepeatBytes = 256;

__aicore__ inline int32_t Param(GM_ADDR params, uint32_t index) {
  AscendC::GlobalTensor<int32_t> numbers;
  numbers.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(params), 16);
  return numbers.GetValue(index);
}

template <typename T>
constexpr uint32_t kLanes = kRepeatBytes / sizeof(T);

}  // namespace probe
