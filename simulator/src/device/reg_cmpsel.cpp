// SPDX-License-Identifier: Apache-2.0
// Comparisons of vector registers, into masks, and what selects by a mask.
#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

namespace {

void CompareLanes(VectorState& state, Compare op, DType dtype, RegMask* dst, const Reg* a,
                  const Reg* b, const uint8_t* bBytes, const RegMask& mask) {
  const size_t width = WidthOf(dtype);
  const auto body = Lanes().regCompare[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
  if (body == nullptr) {
    RegisterDType("Compare", dtype);
  }
  SettleMask(state, mask);
  const uint64_t lanes = LaneBit(width);
  uint64_t undefined[4] = {};
  uint32_t origin = 0;
  bool clean = true;
  if (state.observed) {
    clean = IsClean(*a) && (b == nullptr || IsClean(*b)) && IsClean(mask);
    if (!clean) {
      uint8_t temp[kRegBytes];
      for (const Reg* reg : {a, b}) {
        if (reg == nullptr || IsClean(*reg)) {
          continue;
        }
        origin = OriginOf(state, *reg);
        const uint8_t* const shadow = ShadowOf(*reg, temp);
        for (size_t i = 0; i < kRegBytes; i += width) {
          const bool any = AnyUndefined(shadow + i, width);
          undefined[i / 64] |= uint64_t{any && Works(mask, width, i / width)} << (i % 64);
        }
      }
      if (!IsClean(mask)) {
        origin = origin != 0 ? origin : mask.origin;
        for (size_t word = 0; word < 4; ++word) {
          undefined[word] |= mask.undefined[word] & lanes;
        }
      }
    }
  }
  uint8_t packed[32] = {};
  body(packed, a->bytes, bBytes, 1, kRegBytes / width);
  uint64_t bits[4];
  SpreadLanes(packed, width, bits);
  uint64_t any = 0;
  for (size_t word = 0; word < 4; ++word) {
    dst->bits[word] = bits[word] & mask.bits[word] & lanes;
    dst->undefined[word] = undefined[word];
    any |= undefined[word];
  }
  dst->state = any != 0 ? Reg::kPartly : Reg::kWritten;
  dst->origin = origin;
}

}  // namespace

void RegCompare(Compare op, DType dtype, RegMask* dst, const Reg* a, const Reg* b,
                const RegMask& mask) try {
  VectorState& state = InFunction("Compare");
  const RegAfter after = Timed(state, dtype, *a, *b, mask);
  CompareLanes(state, op, dtype, dst, a, b, b->bytes, mask);
  dst->after = after;
}
ACLSIM_SKIPS_FAULTS()

void RegCompareScalar(Compare op, DType dtype, RegMask* dst, const Reg* a, uint64_t b,
                      const RegMask& mask) try {
  VectorState& state = InFunction("Compares");
  alignas(64) uint8_t all[kRegBytes];
  FillRegister(all, b, WidthOf(dtype));
  const RegAfter after = Timed(state, dtype, *a, mask);
  CompareLanes(state, op, dtype, dst, a, nullptr, all, mask);
  dst->after = after;
}
ACLSIM_SKIPS_FAULTS()

void RegSelect(uint8_t width, Reg* dst, const Reg* a, const Reg* b, const RegMask& mask) try {
  VectorState& state = InFunction("Select");
  dst->after = Timed(state, OfWidth(width), *a, *b, mask);
  SettleMask(state, mask);
  if (state.observed) {
    if (IsClean(*a) && IsClean(*b) && IsClean(mask)) {
      dst->state = Reg::kWritten;
    } else {
      uint8_t temp0[kRegBytes], temp1[kRegBytes], result[kRegBytes];
      const uint8_t* const x = ShadowOf(*a, temp0);
      const uint8_t* const y = ShadowOf(*b, temp1);
      const uint32_t origin = !IsClean(*a)   ? OriginOf(state, *a)
                              : !IsClean(*b) ? OriginOf(state, *b)
                                             : mask.origin;
      for (size_t i = 0; i < kRegBytes; i += width) {
        std::memcpy(result + i, (Works(mask, width, i / width) ? x : y) + i, width);
        if (UndefinedAt(mask, i)) {
          std::memset(result + i, 0xFF, width);
        }
      }
      Settle(dst, true, result, origin);
    }
  }
  if (width == 2 || width == 4) {
    uint8_t packed[32];
    PackLanes(mask.bits, width, packed);
    (width == 2 ? Lanes().select2 : Lanes().select4)(dst->bytes, packed, a->bytes, b->bytes, 1,
                                                     kRegBytes / width);
    return;
  }
  for (size_t i = 0; i < kRegBytes; i += width) {
    std::memmove(dst->bytes + i, (Works(mask, width, i / width) ? a : b)->bytes + i, width);
  }
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
