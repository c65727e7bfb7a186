// SPDX-License-Identifier: Apache-2.0
// Ops::Base::fp16_t: as op::fp16_t, but an uint16_t stands for the bits of a half.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "op_common/op_host/util/opbase_export.h"
#include "opdev/fp16_t.h"

namespace Ops {
namespace Base {

struct fp16_t {
  uint16_t val = 0;

  fp16_t() = default;
  fp16_t(uint16_t bits) : val(bits) {}
  template <typename T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  fp16_t(T value) : val(op::internal::HalfBits(static_cast<float>(value))) {}

  operator float() const { return op::internal::HalfToFloat(val); }
  float toFloat() const { return op::internal::HalfToFloat(val); }

  fp16_t& operator+=(fp16_t other) { return *this = fp16_t(float(*this) + float(other)); }
  fp16_t& operator-=(fp16_t other) { return *this = fp16_t(float(*this) - float(other)); }
  fp16_t& operator*=(fp16_t other) { return *this = fp16_t(float(*this) * float(other)); }
  fp16_t& operator/=(fp16_t other) { return *this = fp16_t(float(*this) / float(other)); }
};

}  // namespace Base
}  // namespace Ops
