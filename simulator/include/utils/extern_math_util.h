// SPDX-License-Identifier: Apache-2.0
// Arithmetic that reports overflow.
#pragma once

namespace ge {

// True when the result does not fit; *out is then unspecified.
template <typename A, typename B, typename R>
bool MulOverflow(A a, B b, R& out) {
  return __builtin_mul_overflow(a, b, &out);
}
template <typename A, typename B, typename R>
bool AddOverflow(A a, B b, R& out) {
  return __builtin_add_overflow(a, b, &out);
}

}  // namespace ge
