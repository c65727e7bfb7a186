// SPDX-License-Identifier: Apache-2.0
// Vector registers filled with a scalar, a lane or an index, and copies of them.
#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

void RegDuplicate(uint8_t width, Reg* dst, uint64_t value, const RegMask* mask, bool merge) try {
  VectorState& state = InFunction("Duplicate");
  dst->after = mask == nullptr ? Timed(state, OfWidth(width))
               : merge         ? Timed(state, OfWidth(width), *dst, *mask)
                               : Timed(state, OfWidth(width), *mask);
  if (mask == nullptr) {
    FillRegister(dst->bytes, value, width);
    dst->state = Reg::kWritten;
    return;
  }
  SettleMask(state, *mask);
  Track(state, dst, {}, mask, width, merge);
  Masked(dst, *mask, width, merge, false, [&](uint8_t* out) { FillRegister(out, value, width); });
}
ACLSIM_SKIPS_FAULTS()

void RegSpread(uint8_t width, Reg* dst, const Reg* src, const RegMask& mask, bool merge) try {
  VectorState& state = InFunction("Duplicate");
  dst->after = merge ? Timed(state, OfWidth(width), *dst, *src, mask)
                     : Timed(state, OfWidth(width), *src, mask);
  SettleMask(state, mask);
  uint64_t value = 0;
  std::memcpy(&value, src->bytes, width);
  if (state.observed) {
    Reg first;
    first.state = Reg::kWritten;
    if (!IsClean(*src)) {
      uint8_t temp[kRegBytes];
      const uint8_t* const shadow = ShadowOf(*src, temp);
      const bool any = AnyUndefined(shadow, width);
      std::memset(first.shadow, any ? 0xFF : 0, kRegBytes);
      SettleShadow(&first, OriginOf(state, *src));
    }
    Track(state, dst, {&first}, &mask, width, merge);
  }
  Masked(dst, mask, width, merge, false, [&](uint8_t* out) { FillRegister(out, value, width); });
}
ACLSIM_SKIPS_FAULTS()

void RegMove(uint8_t width, Reg* dst, const Reg* src, const RegMask* mask) try {
  VectorState& state = InFunction("Move");
  dst->after = mask == nullptr ? Timed(state, OfWidth(width), *src)
                               : Timed(state, OfWidth(width), *dst, *src, *mask);
  if (mask == nullptr) {
    Track(state, dst, {src}, nullptr, width, false);
    std::memmove(dst->bytes, src->bytes, kRegBytes);
    return;
  }
  SettleMask(state, *mask);
  Track(state, dst, {src}, mask, width, true);
  Blend(dst->bytes, *mask, width, src->bytes, true);
}
ACLSIM_SKIPS_FAULTS()

void RegArange(DType dtype, Reg* dst, uint64_t first, bool descending) try {
  VectorState& state = InFunction("Arange");
  if (dtype == DType::kBf16 || dtype == DType::kUint8 || dtype == DType::kUint16 ||
      dtype == DType::kUint32 || dtype == DType::kUint64) {
    RegisterDType("Arange", dtype);
  }
  dst->after = Timed(state, dtype);
  const size_t width = WidthOf(dtype);
  const size_t n = kRegBytes / width;
  for (size_t i = 0; i < n; ++i) {
    const size_t step = descending ? n - 1 - i : i;
    uint8_t* const at = dst->bytes + i * width;
    if (IsFloat(dtype)) {
      StoreLane(
          dtype, at,
          LoadLane(dtype, reinterpret_cast<const uint8_t*>(&first)) + static_cast<float>(step));
    } else {
      const uint64_t value = first + step;
      std::memcpy(at, &value, width);
    }
  }
  dst->state = Reg::kWritten;
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
