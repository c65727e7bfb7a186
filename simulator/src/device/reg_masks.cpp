// SPDX-License-Identifier: Apache-2.0
// Masks of vector functions: made, combined, packed and interleaved.
#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

RegMask RegCreateMask(uint8_t width, uint32_t lanes, uint32_t every) try {
  VectorState& state = InFunction("UpdateMask");
  RegMask mask;
  mask.state = Reg::kWritten;
  mask.after = Timed(state, OfWidth(width));
  std::fill(std::begin(mask.undefined), std::end(mask.undefined), 0);
  const uint32_t most = kRegBytes / width;
  const uint32_t n = std::min(lanes, most);
  if (every == 1) {
    // Whole words, then the rest of one.
    const uint32_t bits = n * width;
    for (uint32_t word = 0; word < 4; ++word) {
      const uint32_t before = word * 64;
      const uint64_t some = bits <= before        ? 0
                            : bits - before >= 64 ? ~uint64_t{0}
                                                  : (uint64_t{1} << (bits - before)) - 1;
      mask.bits[word] = LaneBit(width) & some;
    }
    return mask;
  }
  std::fill(std::begin(mask.bits), std::end(mask.bits), 0);
  for (uint32_t lane = 0; lane < n; lane += every) {
    mask.bits[lane * width / 64] |= uint64_t{1} << (lane * width % 64);
  }
  return mask;
}
ACLSIM_SKIPS_FAULTS({})

void RegMaskBits(RegMaskOp op, RegMask* dst, const RegMask& a, const RegMask& b,
                 const RegMask* mask) try {
  constexpr const char* kNames[] = {"MaskAnd", "MaskOr",   "MaskXor",
                                    "MaskNot", "MaskMove", "MaskSelect"};
  VectorState& state = InFunction(kNames[static_cast<size_t>(op)]);
  RegMask result;
  result.after = mask != nullptr ? Timed(state, DType::kUint8, a, b, *mask)
                                 : Timed(state, DType::kUint8, a, b);
  SettleMask(state, a);
  SettleMask(state, b);
  if (mask != nullptr) {
    SettleMask(state, *mask);
  }
  uint64_t any = 0;
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t x = a.bits[i], y = b.bits[i];
    const uint64_t m = mask != nullptr ? mask->bits[i] : ~uint64_t{0};
    result.bits[i] = op == RegMaskOp::kSelect ? (x & m) | (y & ~m)
                                              : (op == RegMaskOp::kAnd   ? x & y
                                                 : op == RegMaskOp::kOr  ? x | y
                                                 : op == RegMaskOp::kXor ? x ^ y
                                                 : op == RegMaskOp::kNot ? ~x
                                                                         : x) &
                                                    m;
    result.undefined[i] = 0;
    if (state.observed) {
      const uint64_t ofA = IsClean(a) ? 0 : a.undefined[i];
      const uint64_t ofB = IsClean(b) ? 0 : b.undefined[i];
      const uint64_t ofMask = mask == nullptr || IsClean(*mask) ? 0 : mask->undefined[i];
      result.undefined[i] =
          op == RegMaskOp::kSelect ? (ofA & m) | (ofB & ~m) | ofMask : ((ofA | ofB) & m) | ofMask;
    }
    any |= result.undefined[i];
  }
  result.state = any != 0 ? Reg::kPartly : Reg::kWritten;
  result.origin = !IsClean(a)       ? a.origin
                  : !IsClean(b)     ? b.origin
                  : mask != nullptr ? mask->origin
                                    : 0;
  *dst = result;
}
ACLSIM_SKIPS_FAULTS()

namespace {

// change(to, from...) on the bits, and on those that are undefined.
template <typename Change>
void ChangeMasks(VectorState& state, std::initializer_list<RegMask*> dst,
                 std::initializer_list<const RegMask*> src, Change&& change) {
  bool clean = true;
  uint32_t origin = 0;
  const RegAfter after = src.size() == 1
                             ? Timed(state, DType::kUint8, **src.begin())
                             : Timed(state, DType::kUint8, **src.begin(), *src.begin()[1]);
  for (RegMask* mask : dst) {
    mask->after = after;
  }
  for (const RegMask* mask : src) {
    SettleMask(state, *mask);
    if (state.observed && !IsClean(*mask)) {
      clean = false;
      origin = mask->origin;
    }
  }
  if (clean) {
    change(false);
    for (RegMask* mask : dst) {
      std::fill(std::begin(mask->undefined), std::end(mask->undefined), 0);
      mask->state = Reg::kWritten;
    }
    return;
  }
  change(true);
  change(false);
  for (RegMask* mask : dst) {
    mask->state = Reg::kPartly;
    mask->origin = origin;
  }
}

// Undefined bits of masks that are defined are not kept up.
void BitsOf(const RegMask& mask, bool undefined, uint64_t* bits) {
  for (size_t i = 0; i < 4; ++i) {
    bits[i] = !undefined ? mask.bits[i] : IsClean(mask) ? 0 : mask.undefined[i];
  }
}
uint64_t* Target(RegMask* mask, bool undefined) { return undefined ? mask->undefined : mask->bits; }
bool BitAt(const uint64_t* bits, size_t i) { return (bits[i / 64] >> (i % 64)) & 1; }

}  // namespace

void RegMaskPack(RegMask* dst, const RegMask& src, bool high) try {
  VectorState& state = InFunction("MaskPack");
  ChangeMasks(state, {dst}, {&src}, [&](bool undefined) {
    uint64_t from[4], to[4] = {};
    BitsOf(src, undefined, from);
    PackLanes(from, 2, reinterpret_cast<uint8_t*>(to + (high ? 2 : 0)));
    std::memcpy(Target(dst, undefined), to, sizeof(to));
  });
}
ACLSIM_SKIPS_FAULTS()

void RegMaskUnpack(RegMask* dst, const RegMask& src, bool high) try {
  VectorState& state = InFunction("MaskUnPack");
  ChangeMasks(state, {dst}, {&src}, [&](bool undefined) {
    uint64_t from[4], to[4];
    BitsOf(src, undefined, from);
    SpreadLanes(reinterpret_cast<const uint8_t*>(from + (high ? 2 : 0)), 2, to);
    std::memcpy(Target(dst, undefined), to, sizeof(to));
  });
}
ACLSIM_SKIPS_FAULTS()

void RegMaskInterleave(uint8_t width, RegMask* dst0, RegMask* dst1, const RegMask& a,
                       const RegMask& b) try {
  VectorState& state = InFunction("MaskInterleave");
  ChangeMasks(state, {dst0, dst1}, {&a, &b}, [&](bool undefined) {
    uint64_t x[4], y[4], out[8] = {};
    BitsOf(a, undefined, x);
    BitsOf(b, undefined, y);
    for (size_t i = 0; i < kRegBytes; ++i) {
      const size_t lane = i / width, bit = i % width;
      const size_t even = 2 * lane * width + bit;
      out[even / 64] |= uint64_t{BitAt(x, i)} << (even % 64);
      out[(even + width) / 64] |= uint64_t{BitAt(y, i)} << ((even + width) % 64);
    }
    std::memcpy(Target(dst0, undefined), out, 32);
    std::memcpy(Target(dst1, undefined), out + 4, 32);
  });
}
ACLSIM_SKIPS_FAULTS()

void RegMaskDeinterleave(uint8_t width, RegMask* dst0, RegMask* dst1, const RegMask& a,
                         const RegMask& b) try {
  VectorState& state = InFunction("MaskDeInterleave");
  ChangeMasks(state, {dst0, dst1}, {&a, &b}, [&](bool undefined) {
    uint64_t in[8], out0[4] = {}, out1[4] = {};
    BitsOf(a, undefined, in);
    BitsOf(b, undefined, in + 4);
    for (size_t i = 0; i < kRegBytes; ++i) {
      const size_t lane = i / width, bit = i % width;
      const size_t even = 2 * lane * width + bit;
      out0[i / 64] |= uint64_t{BitAt(in, even)} << (i % 64);
      out1[i / 64] |= uint64_t{BitAt(in, even + width)} << (i % 64);
    }
    std::memcpy(Target(dst0, undefined), out0, 32);
    std::memcpy(Target(dst1, undefined), out1, 32);
  });
}
ACLSIM_SKIPS_FAULTS()

RegMask RegMaskOfVectorMask(uint8_t width) try {
  VectorState& state = InFunction("MoveMask");
  RegMask mask;
  mask.after = Timed(state, OfWidth(width));
  SpreadLanes(reinterpret_cast<const uint8_t*>(state.core->maskBits), width, mask.bits);
  std::fill(std::begin(mask.undefined), std::end(mask.undefined), 0);
  mask.state = Reg::kWritten;
  return mask;
}
ACLSIM_SKIPS_FAULTS({})

void RegMaskOfRegister(uint8_t width, RegMask* dst, const Reg* src, uint32_t part) try {
  VectorState& state = InFunction("MaskGenWithRegTensor");
  dst->after = Timed(state, OfWidth(width), *src);
  // A part has as many bits as a register has lanes.
  const size_t bytes = static_cast<size_t>(kRegBytes) / width / 8;
  SpreadLanes(src->bytes + part * bytes, width, dst->bits);
  std::fill(std::begin(dst->undefined), std::end(dst->undefined), 0);
  dst->state = Reg::kWritten;
  if (state.observed && !IsClean(*src)) {
    uint8_t temp[kRegBytes];
    SpreadLanes(ShadowOf(*src, temp) + part * bytes, width, dst->undefined);
    dst->state = Reg::kPartly;
    dst->origin = OriginOf(state, *src);
  }
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
