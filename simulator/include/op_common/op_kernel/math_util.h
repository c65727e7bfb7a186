// SPDX-License-Identifier: Apache-2.0
// Integer division and alignment for kernels. Sums are wider than the operands, so they do not wrap.
#pragma once

#include "kernel_operator.h"

namespace Ops {
namespace Base {

template <typename T>
using WideOf = std::conditional_t<(sizeof(T) < sizeof(uint32_t)), uint32_t, uint64_t>;

template <typename T>
__aicore__ inline T FloorDiv(T a, T b) {
  return a / b;
}
template <typename T>
__aicore__ inline T FloorAlign(T a, T b) {
  return a / b * b;
}
template <typename T>
__aicore__ inline T CeilDiv(T a, T b) {
  return static_cast<T>((WideOf<T>(a) + WideOf<T>(b) - 1) / WideOf<T>(b));
}
template <typename T>
__aicore__ inline T CeilAlign(T a, T b) {
  return static_cast<T>((WideOf<T>(a) + WideOf<T>(b) - 1) / WideOf<T>(b) * WideOf<T>(b));
}

}  // namespace Base
}  // namespace Ops
