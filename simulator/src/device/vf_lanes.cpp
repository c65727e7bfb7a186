// SPDX-License-Identifier: Apache-2.0
// Instructions on vector registers, and on their masks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/vec.h"
#include "device/vf.h"

namespace aclsim {

namespace {

constexpr const char* kBinaryNames[] = {
    "Add", "Sub",       "Mul",        "Div",   "Max",    "Min",    "And",       "Or",
    "Xor", "ShiftLeft", "ShiftRight", "Prelu", "AbsSub", "ExpSub", "MulAddDst", "MulDstAdd"};
constexpr const char* kScalarNames[] = {
    "Adds", "Sub",        "Muls",        "Div",   "Maxs",   "Mins",   "And",  "Or",
    "Xor",  "ShiftLefts", "ShiftRights", "Prelu", "AbsSub", "ExpSub", "Axpy", "MulDstAdd"};
constexpr const char* kUnaryNames[] = {"Exp",      "Ln",       "Log2",     "Log10",   "Abs",
                                       "Sqrt",     "Relu",     "Neg",      "Not",     "Truncate",
                                       "Truncate", "Truncate", "Truncate", "Truncate"};
static_assert(std::size(kBinaryNames) == static_cast<size_t>(RegOp2::kCount));
static_assert(std::size(kScalarNames) == static_cast<size_t>(RegOp2::kCount));
static_assert(std::size(kUnaryNames) == static_cast<size_t>(RegOp1::kCount));

bool ReadsDst(RegOp2 op) { return op == RegOp2::kMulAddDst || op == RegOp2::kMulDstAdd; }

// body(bytes) makes all lanes; those of the mask are kept.
template <typename Body>
void Masked(Reg* dst, const RegMask& mask, size_t width, bool merge, bool readsDst, Body&& body) {
  if (IsFull(mask, width)) [[likely]] {
    body(dst->bytes);
    return;
  }
  alignas(64) uint8_t temp[kRegBytes];
  if (readsDst) {
    std::memcpy(temp, dst->bytes, kRegBytes);
  }
  body(temp);
  Blend(dst->bytes, mask, width, temp, merge);
}

void Fill(uint8_t* dst, uint64_t value, size_t width) {
  switch (width) {
    case 1:
      std::memset(dst, static_cast<uint8_t>(value), kRegBytes);
      return;
    case 2:
      std::fill_n(reinterpret_cast<uint16_t*>(dst), kRegBytes / 2, static_cast<uint16_t>(value));
      return;
    case 4:
      std::fill_n(reinterpret_cast<uint32_t*>(dst), kRegBytes / 4, static_cast<uint32_t>(value));
      return;
    default:
      std::fill_n(reinterpret_cast<uint64_t*>(dst), kRegBytes / 8, value);
  }
}

void Prepare(const VectorState& state, const RegMask& mask) {
  if (state.observed && mask.state == Reg::kNever) [[unlikely]] {
    SettleMask(mask);
  }
}

void Binary(VectorState& state, RegOp2 op, DType dtype, Reg* dst, const uint8_t* a,
            const uint8_t* b, const RegMask& mask, bool merge) {
  const size_t width = WidthOf(dtype);
  const size_t lanes = kRegBytes / width;
  const auto type = static_cast<size_t>(dtype);
  if (op == RegOp2::kExpSub) {
    const auto sub = Lanes().regBinary[static_cast<size_t>(RegOp2::kSub)][type];
    const auto exp = Lanes().regUnary[static_cast<size_t>(RegOp1::kExp)][type];
    if (dtype != DType::kFloat) {
      RegisterDType(state.core->instruction, dtype);
    }
    Masked(dst, mask, width, merge, false, [&](uint8_t* out) {
      alignas(64) uint8_t difference[kRegBytes];
      sub(difference, a, b, lanes);
      exp(out, difference, lanes);
    });
    return;
  }
  const auto body = Lanes().regBinary[static_cast<size_t>(op)][type];
  if (body == nullptr) [[unlikely]] {
    RegisterDType(state.core->instruction, dtype);
  }
  Masked(dst, mask, width, merge, ReadsDst(op), [&](uint8_t* out) { body(out, a, b, lanes); });
}

template <double (*function)(double)>
void EachFloat(uint8_t* dst, const uint8_t* src, DType dtype) {
  for (size_t i = 0; i < kRegBytes; i += WidthOf(dtype)) {
    StoreLane(dtype, dst + i, static_cast<float>(function(LoadLane(dtype, src + i))));
  }
}

}  // namespace

void RegBinary(RegOp2 op, DType dtype, Reg* dst, const Reg* a, const Reg* b, const RegMask& mask,
               bool merge) try {
  VectorState& state = InFunction(kBinaryNames[static_cast<size_t>(op)]);
  Prepare(state, mask);
  if (ReadsDst(op)) {
    Track(state, dst, {dst, a, b}, &mask, WidthOf(dtype), merge);
  } else {
    Track(state, dst, {a, b}, &mask, WidthOf(dtype), merge);
  }
  Binary(state, op, dtype, dst, a->bytes, b->bytes, mask, merge);
  dst->ready = ReadsDst(op) || merge ? Timed(state, dtype, *dst, *a, *b, mask)
                                     : Timed(state, dtype, *a, *b, mask);
}
ACLSIM_SKIPS_FAULTS()

void RegWithScalar(RegOp2 op, DType dtype, Reg* dst, const Reg* a, uint64_t b, const RegMask& mask,
                   bool merge) try {
  VectorState& state = InFunction(kScalarNames[static_cast<size_t>(op)]);
  Prepare(state, mask);
  if (ReadsDst(op)) {
    Track(state, dst, {dst, a}, &mask, WidthOf(dtype), merge);
  } else {
    Track(state, dst, {a}, &mask, WidthOf(dtype), merge);
  }
  alignas(64) uint8_t all[kRegBytes];
  Fill(all, b, WidthOf(dtype));
  Binary(state, op, dtype, dst, a->bytes, all, mask, merge);
  dst->ready =
      ReadsDst(op) || merge ? Timed(state, dtype, *dst, *a, mask) : Timed(state, dtype, *a, mask);
}
ACLSIM_SKIPS_FAULTS()

void RegUnary(RegOp1 op, DType dtype, Reg* dst, const Reg* a, const RegMask& mask, bool merge) try {
  VectorState& state = InFunction(kUnaryNames[static_cast<size_t>(op)]);
  Prepare(state, mask);
  const size_t width = WidthOf(dtype);
  const auto body = Lanes().regUnary[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
  const bool logarithm = op == RegOp1::kLog2 || op == RegOp1::kLog10;
  if (logarithm ? !IsFloat(dtype) : body == nullptr) [[unlikely]] {
    RegisterDType(state.core->instruction, dtype);
  }
  Track(state, dst, {a}, &mask, width, merge);
  Masked(dst, mask, width, merge, false, [&](uint8_t* out) {
    if (op == RegOp1::kLog2) {
      EachFloat<std::log2>(out, a->bytes, dtype);
    } else if (op == RegOp1::kLog10) {
      EachFloat<std::log10>(out, a->bytes, dtype);
    } else {
      body(out, a->bytes, kRegBytes / width);
    }
  });
  dst->ready = merge ? Timed(state, dtype, *dst, *a, mask) : Timed(state, dtype, *a, mask);
}
ACLSIM_SKIPS_FAULTS()

void RegLeakyRelu(DType dtype, Reg* dst, const Reg* a, uint64_t slope, const RegMask& mask,
                  bool merge) try {
  VectorState& state = InFunction("LeakyRelu");
  Prepare(state, mask);
  const size_t width = WidthOf(dtype);
  const auto body =
      Lanes().scalar[static_cast<size_t>(OpScalar::kLeakyRelu)][static_cast<size_t>(dtype)];
  if (body == nullptr) {
    RegisterDType("LeakyRelu", dtype);
  }
  Track(state, dst, {a}, &mask, width, merge);
  ScalarValue value;
  value.f = LoadLane(dtype, reinterpret_cast<const uint8_t*>(&slope));
  Masked(dst, mask, width, merge, false,
         [&](uint8_t* out) { body(out, a->bytes, value, kRegBytes / width); });
  dst->ready = merge ? Timed(state, dtype, *dst, *a, mask) : Timed(state, dtype, *a, mask);
}
ACLSIM_SKIPS_FAULTS()

// --- conversions ------------------------------------------------------------------------------------------------------

namespace {

template <typename To, typename From>
To Converted(From value, bool saturate) {
  if (saturate) {
    if constexpr (std::is_signed_v<From> && !std::is_signed_v<To>) {
      if (value < 0) {
        return 0;
      }
    } else if constexpr (std::is_signed_v<From>) {
      if (value < std::numeric_limits<To>::min()) {
        return std::numeric_limits<To>::min();
      }
    }
    if (static_cast<uint64_t>(value) > static_cast<uint64_t>(std::numeric_limits<To>::max()) &&
        value > 0) {
      return std::numeric_limits<To>::max();
    }
  }
  return static_cast<To>(value);
}
template <typename To, typename From>
void Convert(uint8_t* dst, const uint8_t* src, size_t n, bool saturate) {
  for (size_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, src + i * sizeof(From), sizeof(From));
    const To result = Converted<To, From>(value, saturate);
    std::memcpy(dst + i * sizeof(To), &result, sizeof(To));
  }
}

using Conversion = void (*)(uint8_t*, const uint8_t*, size_t, bool);
Conversion IntegerConversion(DType to, DType from) {
  const auto is = [&](DType source, DType result) { return from == source && to == result; };
  if (is(DType::kInt8, DType::kInt16)) return Convert<int16_t, int8_t>;
  if (is(DType::kInt8, DType::kInt32)) return Convert<int32_t, int8_t>;
  if (is(DType::kUint8, DType::kUint16)) return Convert<uint16_t, uint8_t>;
  if (is(DType::kUint8, DType::kUint32)) return Convert<uint32_t, uint8_t>;
  if (is(DType::kInt16, DType::kUint8)) return Convert<uint8_t, int16_t>;
  if (is(DType::kInt16, DType::kInt32)) return Convert<int32_t, int16_t>;
  if (is(DType::kInt16, DType::kUint32)) return Convert<uint32_t, int16_t>;
  if (is(DType::kUint16, DType::kUint8)) return Convert<uint8_t, uint16_t>;
  if (is(DType::kUint16, DType::kUint32)) return Convert<uint32_t, uint16_t>;
  if (is(DType::kInt32, DType::kUint8)) return Convert<uint8_t, int32_t>;
  if (is(DType::kInt32, DType::kInt16)) return Convert<int16_t, int32_t>;
  if (is(DType::kInt32, DType::kUint16)) return Convert<uint16_t, int32_t>;
  if (is(DType::kInt32, DType::kInt64)) return Convert<int64_t, int32_t>;
  if (is(DType::kUint32, DType::kUint8)) return Convert<uint8_t, uint32_t>;
  if (is(DType::kUint32, DType::kInt16)) return Convert<int16_t, uint32_t>;
  if (is(DType::kUint32, DType::kUint16)) return Convert<uint16_t, uint32_t>;
  if (is(DType::kInt64, DType::kInt32)) return Convert<int32_t, int64_t>;
  return nullptr;
}

bool IsReal(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kHalf || dtype == DType::kBf16;
}

// Saturating: the largest number in place of infinity, 0 in place of NaN.
void SaturateFloats(DType dtype, uint8_t* lanes, const uint8_t* src, DType from, size_t n) {
  const uint16_t infinity = dtype == DType::kHalf ? 0x7c00 : 0x7f80;
  for (size_t i = 0; i < n; ++i) {
    uint16_t bits;
    std::memcpy(&bits, lanes + 2 * i, 2);
    const auto magnitude = static_cast<uint16_t>(bits & 0x7fff);
    if (magnitude > infinity) {
      bits = 0;
    } else if (magnitude == infinity) {
      bits = static_cast<uint16_t>(bits - 1);
    }
    std::memcpy(lanes + 2 * i, &bits, 2);
  }
  (void)src, (void)from;
}

// Outside of saturation, integers of floats keep their lowest bits; infinity still saturates.
void WrapIntegers(DType to, uint8_t* lanes, DType from, const uint8_t* src, Round round, size_t n) {
  const size_t width = WidthOf(to);
  for (size_t i = 0; i < n; ++i) {
    float value;
    if (from == DType::kBf16) {
      uint16_t bits;
      std::memcpy(&bits, src + 2 * i, 2);
      value = Bf16ToFloat(bits);
    } else {
      value = LoadLane(from, src + i * WidthOf(from));
    }
    if (!(std::fabs(value) < 0x1p62f)) {
      continue;
    }
    const double exact = round == Round::kFloor   ? std::floor(value)
                         : round == Round::kCeil  ? std::ceil(value)
                         : round == Round::kTrunc ? std::trunc(value)
                         : round == Round::kRound ? std::round(value)
                                                  : std::nearbyint(value);
    const auto wide = static_cast<int64_t>(exact);
    std::memcpy(lanes + i * width, &wide, width);
  }
}

bool ConvertLanes(DType to, DType from, uint8_t* dst, const uint8_t* src, Round round,
                  bool saturate, size_t n) {
  if (const Conversion integers = IntegerConversion(to, from)) {
    integers(dst, src, n, saturate);
    return true;
  }
  const auto body = Lanes().cast[static_cast<size_t>(from)][static_cast<size_t>(to)];
  if (body != nullptr) {
    body(dst, src, to == DType::kBf16 && round == Round::kNone ? Round::kRint : round, n);
  } else if (IsReal(to) && IsReal(from)) {  // between half and bfloat16_t
    alignas(64) float wide[kRegBytes];
    const auto in = Lanes().cast[static_cast<size_t>(from)][static_cast<size_t>(DType::kFloat)];
    const auto out = Lanes().cast[static_cast<size_t>(DType::kFloat)][static_cast<size_t>(to)];
    in(wide, src, Round::kNone, n);
    out(dst, wide, round == Round::kNone ? Round::kRint : round, n);
  } else {
    return false;
  }
  if (IsReal(to) && WidthOf(to) == 2 && saturate) {
    SaturateFloats(to, dst, src, from, n);
  } else if (!IsReal(to) && IsReal(from) && !saturate) {
    WrapIntegers(to, dst, from, src, round, n);
  }
  return true;
}

}  // namespace

void RegCast(DType to, DType from, Reg* dst, const Reg* src, Round round, uint8_t part,
             bool saturate, const RegMask& mask, bool merge) try {
  VectorState& state = InFunction("Cast");
  Prepare(state, mask);
  const size_t toWidth = WidthOf(to), fromWidth = WidthOf(from);
  const size_t wide = std::max(toWidth, fromWidth);
  const size_t n = kRegBytes / wide;
  const size_t narrow = std::min(toWidth, fromWidth);
  const size_t ratio = wide / narrow;
  const size_t at = part % ratio;
  alignas(64) uint8_t in[kRegBytes];
  alignas(64) uint8_t out[kRegBytes];
  const uint8_t* source = src->bytes;
  if (fromWidth < toWidth) {
    if (fromWidth == 2 && ratio == 2) {
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(in + 2 * i, src->bytes + 4 * i + 2 * at, 2);
      }
    } else {
      for (size_t i = 0; i < n; ++i) {
        std::memcpy(in + i * narrow, src->bytes + i * wide + at * narrow, narrow);
      }
    }
    source = in;
  }
  if (!ConvertLanes(to, from, out, source, round, saturate, n)) {
    ThrowFault("cast-unsupported",
               Format("%s to %s does not exist for registers", NameOf(from), NameOf(to)),
               "The device compiler rejects it. Go through a third type.");
  }
  // A mask has the lanes of the source: of narrow ones those that are taken.
  const auto works = [&](size_t i) {
    return fromWidth < toWidth ? Works(mask, fromWidth, i * ratio + at) : Works(mask, fromWidth, i);
  };
  bool all = IsFull(mask, fromWidth);
  if (!all && fromWidth < toWidth) {
    all = true;
    for (size_t i = 0; i < n && all; ++i) {
      all = works(i);
    }
  }
  if (state.observed) {
    const bool clean = IsClean(*src) && IsClean(mask) && !merge;
    if (clean) {
      dst->state = Reg::kWritten;
    } else {
      uint8_t temp[kRegBytes], old[kRegBytes], result[kRegBytes] = {};
      const uint8_t* const shadow = ShadowOf(*src, temp);
      uint32_t origin = IsClean(*src) ? mask.origin : OriginOf(state, *src);
      if (merge) {
        std::memcpy(old, ShadowOf(*dst, result), kRegBytes);
        std::memcpy(result, old, kRegBytes);
        origin = origin != 0 || IsClean(*dst) ? origin : OriginOf(state, *dst);
      }
      for (size_t i = 0; i < n; ++i) {
        const size_t lane = fromWidth < toWidth ? i * wide + at * narrow : i * fromWidth;
        uint8_t any = 0;
        for (size_t j = 0; works(i) && j < fromWidth; ++j) {
          any |= shadow[lane + j];
        }
        if (!IsClean(mask) && ((mask.undefined[lane / 64] >> (lane % 64)) & 1)) {
          any = 0xFF;
        }
        if (works(i) || !merge) {
          const size_t to0 = toWidth < fromWidth ? i * wide + at * narrow : i * toWidth;
          std::memset(result + to0, any != 0 ? 0xFF : 0, toWidth);
        }
      }
      std::memcpy(dst->shadow, result, kRegBytes);
      SettleShadow(dst, origin);
    }
  }
  dst->ready = merge ? Timed(state, from, *dst, *src, mask) : Timed(state, from, *src, mask);
  if (toWidth >= fromWidth) {
    if (all) {
      std::memcpy(dst->bytes, out, kRegBytes);
      return;
    }
    for (size_t i = 0; i < n; ++i) {
      if (works(i)) {
        std::memcpy(dst->bytes + i * toWidth, out + i * toWidth, toWidth);
      } else if (!merge) {
        std::memset(dst->bytes + i * toWidth, 0, toWidth);
      }
    }
    return;
  }
  if (!merge) {
    std::memset(dst->bytes, 0, kRegBytes);
  }
  if (all && toWidth == 2 && fromWidth == 4) {
    for (size_t i = 0; i < n; ++i) {
      std::memcpy(dst->bytes + 4 * i + 2 * at, out + 2 * i, 2);
    }
    return;
  }
  for (size_t i = 0; i < n; ++i) {
    if (works(i)) {
      std::memcpy(dst->bytes + i * wide + at * narrow, out + i * narrow, narrow);
    }
  }
}
ACLSIM_SKIPS_FAULTS()

// --- comparisons, selections, copies ----------------------------------------------------------------------------------

namespace {

void CompareLanes(VectorState& state, Compare op, DType dtype, RegMask* dst, const Reg* a,
                  const Reg* b, const uint8_t* bBytes, const RegMask& mask) {
  const size_t width = WidthOf(dtype);
  const auto body = Lanes().regCompare[static_cast<size_t>(op)][static_cast<size_t>(dtype)];
  if (body == nullptr) {
    RegisterDType("Compare", dtype);
  }
  Prepare(state, mask);
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
          const bool any =
              std::any_of(shadow + i, shadow + i + width, [](uint8_t byte) { return byte != 0; });
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
  const int64_t ready = Timed(state, dtype, *a, *b, mask);
  CompareLanes(state, op, dtype, dst, a, b, b->bytes, mask);
  dst->ready = ready;
}
ACLSIM_SKIPS_FAULTS()

void RegCompareScalar(Compare op, DType dtype, RegMask* dst, const Reg* a, uint64_t b,
                      const RegMask& mask) try {
  VectorState& state = InFunction("Compares");
  alignas(64) uint8_t all[kRegBytes];
  Fill(all, b, WidthOf(dtype));
  const int64_t ready = Timed(state, dtype, *a, mask);
  CompareLanes(state, op, dtype, dst, a, nullptr, all, mask);
  dst->ready = ready;
}
ACLSIM_SKIPS_FAULTS()

void RegSelect(uint8_t width, Reg* dst, const Reg* a, const Reg* b, const RegMask& mask) try {
  VectorState& state = InFunction("Select");
  Prepare(state, mask);
  dst->ready = Timed(state, OfWidth(width), *a, *b, mask);
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
        if (!IsClean(mask) && ((mask.undefined[i / 64] >> (i % 64)) & 1)) {
          std::memset(result + i, 0xFF, width);
        }
      }
      std::memcpy(dst->shadow, result, kRegBytes);
      SettleShadow(dst, origin);
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

void RegDuplicate(uint8_t width, Reg* dst, uint64_t value, const RegMask* mask, bool merge) try {
  VectorState& state = InFunction("Duplicate");
  dst->ready = mask == nullptr ? Timed(state, OfWidth(width))
               : merge         ? Timed(state, OfWidth(width), *dst, *mask)
                               : Timed(state, OfWidth(width), *mask);
  if (mask == nullptr) {
    Fill(dst->bytes, value, width);
    dst->state = Reg::kWritten;
    return;
  }
  Prepare(state, *mask);
  Track(state, dst, {}, mask, width, merge);
  Masked(dst, *mask, width, merge, false, [&](uint8_t* out) { Fill(out, value, width); });
}
ACLSIM_SKIPS_FAULTS()

void RegSpread(uint8_t width, Reg* dst, const Reg* src, const RegMask& mask, bool merge) try {
  VectorState& state = InFunction("Duplicate");
  Prepare(state, mask);
  dst->ready = merge ? Timed(state, OfWidth(width), *dst, *src, mask)
                     : Timed(state, OfWidth(width), *src, mask);
  uint64_t value = 0;
  std::memcpy(&value, src->bytes, width);
  if (state.observed) {
    Reg first;
    first.state = Reg::kWritten;
    if (!IsClean(*src)) {
      uint8_t temp[kRegBytes];
      const uint8_t* const shadow = ShadowOf(*src, temp);
      const bool any = std::any_of(shadow, shadow + width, [](uint8_t byte) { return byte != 0; });
      std::memset(first.shadow, any ? 0xFF : 0, kRegBytes);
      SettleShadow(&first, OriginOf(state, *src));
    }
    Track(state, dst, {&first}, &mask, width, merge);
  }
  Masked(dst, mask, width, merge, false, [&](uint8_t* out) { Fill(out, value, width); });
}
ACLSIM_SKIPS_FAULTS()

void RegMove(uint8_t width, Reg* dst, const Reg* src, const RegMask* mask) try {
  VectorState& state = InFunction("Move");
  dst->ready = mask == nullptr ? Timed(state, OfWidth(width), *src)
                               : Timed(state, OfWidth(width), *dst, *src, *mask);
  if (mask == nullptr) {
    Track(state, dst, {src}, nullptr, width, false);
    std::memmove(dst->bytes, src->bytes, kRegBytes);
    return;
  }
  Prepare(state, *mask);
  Track(state, dst, {src}, mask, width, true);
  Blend(dst->bytes, *mask, width, src->bytes, true);
}
ACLSIM_SKIPS_FAULTS()

// --- reductions -------------------------------------------------------------------------------------------------------

namespace {

template <typename T>
T Read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// As a binary tree over all lanes; those that do not work count as 0. n is a power of two.
template <typename To, typename From>
To TreeSum(const uint8_t* src, const RegMask& mask, size_t first, size_t n) {
  To sums[kRegBytes];
  for (size_t i = 0; i < n; ++i) {
    sums[i] = Works(mask, sizeof(From), first + i)
                  ? static_cast<To>(Read<From>(src + (first + i) * sizeof(From)))
                  : To(0);
  }
  for (; n > 1; n /= 2) {
    for (size_t i = 0; i < n / 2; ++i) {
      sums[i] = static_cast<To>(sums[2 * i] + sums[2 * i + 1]);
    }
  }
  return sums[0];
}
// Each sum of two is rounded.
uint16_t HalfSum(const uint8_t* src, const RegMask& mask, size_t first, size_t n) {
  float sums[kRegBytes / 2];
  for (size_t i = 0; i < n; ++i) {
    sums[i] = Works(mask, 2, first + i) ? HalfToFloat(Read<uint16_t>(src + 2 * (first + i))) : 0.0f;
  }
  for (; n > 1; n /= 2) {
    for (size_t i = 0; i < n / 2; ++i) {
      sums[i] = HalfToFloat(FloatToHalf(sums[2 * i] + sums[2 * i + 1]));
    }
  }
  return FloatToHalf(sums[0]);
}
float FloatSum(const uint8_t* src, const RegMask& mask, size_t first, size_t n) {
  if (first == 0 && n == 64 && IsFull(mask, 4)) {
    float sum;
    Lanes().treeSumFloat(reinterpret_cast<const float*>(src), 64, 64, 1, &sum);
    return sum;
  }
  return TreeSum<float, float>(src, mask, first, n);
}

bool Sum(DType to, DType from, uint8_t* dst, const uint8_t* src, const RegMask& mask, size_t first,
         size_t n) {
  const auto is = [&](DType source, DType result) { return from == source && to == result; };
  const auto put = [&](auto value) { std::memcpy(dst, &value, sizeof(value)); };
  if (is(DType::kFloat, DType::kFloat)) {
    put(FloatSum(src, mask, first, n));
  } else if (is(DType::kHalf, DType::kHalf)) {
    put(HalfSum(src, mask, first, n));
  } else if (is(DType::kInt16, DType::kInt32)) {
    put(TreeSum<uint32_t, int16_t>(src, mask, first, n));
  } else if (is(DType::kUint16, DType::kUint32)) {
    put(TreeSum<uint32_t, uint16_t>(src, mask, first, n));
  } else if (is(DType::kInt32, DType::kInt32) || is(DType::kUint32, DType::kUint32)) {
    put(TreeSum<uint32_t, uint32_t>(src, mask, first, n));
  } else if (is(DType::kInt64, DType::kInt64) || is(DType::kUint64, DType::kUint64)) {
    put(TreeSum<uint64_t, uint64_t>(src, mask, first, n));
  } else {
    return false;
  }
  return true;
}

// The extreme of lanes that work, and the first lane that has it: the type's other end, and 0, when none does.
template <typename T>
size_t Extreme(bool most, uint8_t* dst, const uint8_t* src, const RegMask& mask, size_t first,
               size_t n) {
  T best = most ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  if constexpr (std::is_floating_point_v<T>) {
    best = most ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  }
  size_t at = 0;
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    if (!Works(mask, sizeof(T), first + i)) {
      continue;
    }
    const T value = Read<T>(src + (first + i) * sizeof(T));
    bool better = !any || (most ? value > best : value < best);
    if constexpr (std::is_floating_point_v<T>) {
      if (value != value) {
        best = value;
        at = i;
        break;
      }
      const bool zeros = any && value == 0 && best == 0;
      better = better || (zeros && (most ? std::signbit(best) && !std::signbit(value)
                                         : !std::signbit(best) && std::signbit(value)));
    }
    if (better) {
      best = value;
      at = i;
      any = true;
    }
  }
  std::memcpy(dst, &best, sizeof(T));
  return at;
}
size_t HalfExtreme(bool most, uint8_t* dst, const uint8_t* src, const RegMask& mask, size_t first,
                   size_t n) {
  float values[kRegBytes / 2];
  RegMask lanes;
  std::fill(std::begin(lanes.bits), std::end(lanes.bits), 0);
  size_t count = 0;
  size_t index[kRegBytes / 2];
  for (size_t i = 0; i < n; ++i) {
    if (Works(mask, 2, first + i)) {
      index[count] = i;
      values[count++] = HalfToFloat(Read<uint16_t>(src + 2 * (first + i)));
    }
  }
  size_t best = 0;
  for (size_t i = 1; i < count; ++i) {
    const float a = values[best], b = values[i];
    if (a != a) {
      break;
    }
    const bool zeros = a == 0 && b == 0;
    if (b != b || (most ? b > a : b < a) ||
        (zeros &&
         (most ? std::signbit(a) && !std::signbit(b) : !std::signbit(a) && std::signbit(b)))) {
      best = i;
    }
  }
  const uint16_t none = most ? 0xfc00 : 0x7c00;
  const uint16_t bits = count == 0 ? none : Read<uint16_t>(src + 2 * (first + index[best]));
  std::memcpy(dst, &bits, 2);
  return count == 0 ? 0 : index[best];
}
// Returns the lane, or SIZE_MAX for a type without.
size_t ExtremeOf(bool most, DType dtype, uint8_t* dst, const uint8_t* src, const RegMask& mask,
                 size_t first, size_t n) {
  switch (dtype) {
    case DType::kFloat:
      return Extreme<float>(most, dst, src, mask, first, n);
    case DType::kHalf:
      return HalfExtreme(most, dst, src, mask, first, n);
    case DType::kInt16:
      return Extreme<int16_t>(most, dst, src, mask, first, n);
    case DType::kUint16:
      return Extreme<uint16_t>(most, dst, src, mask, first, n);
    case DType::kInt32:
      return Extreme<int32_t>(most, dst, src, mask, first, n);
    case DType::kUint32:
      return Extreme<uint32_t>(most, dst, src, mask, first, n);
    case DType::kInt64:
      return Extreme<int64_t>(most, dst, src, mask, first, n);
    case DType::kUint64:
      return Extreme<uint64_t>(most, dst, src, mask, first, n);
    default:
      return SIZE_MAX;
  }
}

// Whether a lane that works is undefined, in [first, first + n).
bool AnyUndefined(const Reg& src, const RegMask& mask, size_t width, size_t first, size_t n) {
  if (IsClean(src) && IsClean(mask)) {
    return false;
  }
  uint8_t temp[kRegBytes];
  const uint8_t* const shadow = ShadowOf(src, temp);
  for (size_t lane = first; lane < first + n; ++lane) {
    const size_t at = lane * width;
    if (Works(mask, width, lane) &&
        std::any_of(shadow + at, shadow + at + width, [](uint8_t byte) { return byte != 0; })) {
      return true;
    }
    if (!IsClean(mask) && ((mask.undefined[at / 64] >> (at % 64)) & 1)) {
      return true;
    }
  }
  return false;
}
uint32_t OriginOfAny(const VectorState& state, const Reg& src, const RegMask& mask) {
  return IsClean(src) ? mask.origin : OriginOf(state, src);
}

const char* ReduceName(ReduceOp op) {
  return op == ReduceOp::kSum ? "ReduceSum" : op == ReduceOp::kMax ? "ReduceMax" : "ReduceMin";
}

}  // namespace

void RegReduce(ReduceOp op, DType to, DType from, Reg* dst, const Reg* src,
               const RegMask& mask) try {
  VectorState& state = InFunction(ReduceName(op));
  Prepare(state, mask);
  dst->ready = Timed(state, from, *src, mask);
  const size_t width = WidthOf(from);
  const size_t n = kRegBytes / width;
  uint8_t value[16] = {};
  size_t bytes = WidthOf(to);
  if (op == ReduceOp::kSum) {
    if (!Sum(to, from, value, src->bytes, mask, 0, n)) {
      RegisterDType(state.core->instruction, from);
    }
  } else {
    const size_t lane = ExtremeOf(op == ReduceOp::kMax, from, value, src->bytes, mask, 0, n);
    if (lane == SIZE_MAX || to != from) {
      RegisterDType(state.core->instruction, from);
    }
    std::memcpy(value + width, &lane, width);
    bytes = 2 * width;
  }
  if (state.observed) {
    if (AnyUndefined(*src, mask, width, 0, n)) {
      const uint32_t origin = OriginOfAny(state, *src, mask);
      std::memset(dst->shadow, 0, kRegBytes);
      std::memset(dst->shadow, 0xFF, bytes);
      SettleShadow(dst, origin);
    } else {
      dst->state = Reg::kWritten;
    }
  }
  std::memset(dst->bytes, 0, kRegBytes);
  std::memcpy(dst->bytes, value, bytes);
}
ACLSIM_SKIPS_FAULTS()

void RegReduceBlocks(ReduceOp op, DType to, DType from, Reg* dst, const Reg* src,
                     const RegMask& mask) try {
  VectorState& state = InFunction("ReduceDataBlock");
  Prepare(state, mask);
  dst->ready = Timed(state, from, *src, mask);
  const size_t width = WidthOf(from), result = WidthOf(to);
  const size_t n = static_cast<size_t>(kBlock) / width;
  uint8_t out[kRegBytes] = {}, shadow[kRegBytes] = {};
  bool undefined = false;
  for (size_t block = 0; block < 8; ++block) {
    const bool done =
        op == ReduceOp::kSum
            ? Sum(to, from, out + block * result, src->bytes, mask, block * n, n)
            : to == from && ExtremeOf(op == ReduceOp::kMax, from, out + block * result, src->bytes,
                                      mask, block * n, n) != SIZE_MAX;
    if (!done) {
      RegisterDType("ReduceDataBlock", from);
    }
    if (state.observed && AnyUndefined(*src, mask, width, block * n, n)) {
      undefined = true;
      std::memset(shadow + block * result, 0xFF, result);
    }
  }
  const uint32_t origin = undefined ? OriginOfAny(state, *src, mask) : 0;
  std::memcpy(dst->bytes, out, kRegBytes);
  if (state.observed) {
    std::memcpy(dst->shadow, shadow, undefined ? kRegBytes : 0);
    dst->state = Reg::kWritten;
    if (undefined) {
      SettleShadow(dst, origin);
    }
  }
}
ACLSIM_SKIPS_FAULTS()

void RegReducePairs(DType dtype, Reg* dst, const Reg* src, const RegMask& mask) try {
  VectorState& state = InFunction("PairReduceElem");
  Prepare(state, mask);
  dst->ready = Timed(state, dtype, *src, mask);
  if (!IsFloat(dtype)) {
    RegisterDType("PairReduceElem", dtype);
  }
  const size_t width = WidthOf(dtype);
  uint8_t out[kRegBytes] = {}, shadow[kRegBytes] = {};
  bool undefined = false;
  for (size_t i = 0; i < kRegBytes / width / 2; ++i) {
    const auto value = [&](size_t lane) {
      return Works(mask, width, lane) ? LoadLane(dtype, src->bytes + lane * width) : 0.0f;
    };
    StoreLane(dtype, out + i * width, value(2 * i) + value(2 * i + 1));
    if (state.observed && AnyUndefined(*src, mask, width, 2 * i, 2)) {
      undefined = true;
      std::memset(shadow + i * width, 0xFF, width);
    }
  }
  const uint32_t origin = undefined ? OriginOfAny(state, *src, mask) : 0;
  std::memcpy(dst->bytes, out, kRegBytes);
  if (state.observed) {
    std::memcpy(dst->shadow, shadow, undefined ? kRegBytes : 0);
    dst->state = Reg::kWritten;
    if (undefined) {
      SettleShadow(dst, origin);
    }
  }
}
ACLSIM_SKIPS_FAULTS()

// --- bytes that move --------------------------------------------------------------------------------------------------

namespace {

void PackBytes(uint8_t* dst, const uint8_t* src, size_t width, bool high) {
  uint8_t out[kRegBytes] = {};
  const size_t narrow = width / 2;
  uint8_t* const to = out + (high ? kRegBytes / 2 : 0);
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(to + i * narrow, src + i * width, narrow);
  }
  std::memcpy(dst, out, kRegBytes);
}
void UnpackBytes(uint8_t* dst, const uint8_t* src, size_t width, bool high, bool extend) {
  uint8_t out[kRegBytes] = {};
  const size_t narrow = width / 2;
  const uint8_t* const from = src + (high ? kRegBytes / 2 : 0);
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(out + i * width, from + i * narrow, narrow);
    if (extend && (from[(i + 1) * narrow - 1] & 0x80) != 0) {
      std::memset(out + i * width + narrow, 0xFF, narrow);
    }
  }
  std::memcpy(dst, out, kRegBytes);
}
void InterleaveBytes(uint8_t* dst0, uint8_t* dst1, const uint8_t* a, const uint8_t* b,
                     size_t width) {
  uint8_t out[2 * kRegBytes];
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(out + 2 * i * width, a + i * width, width);
    std::memcpy(out + (2 * i + 1) * width, b + i * width, width);
  }
  std::memcpy(dst0, out, kRegBytes);
  std::memcpy(dst1, out + kRegBytes, kRegBytes);
}
void DeinterleaveBytes(uint8_t* dst0, uint8_t* dst1, const uint8_t* a, const uint8_t* b,
                       size_t width) {
  uint8_t in[2 * kRegBytes];
  std::memcpy(in, a, kRegBytes);
  std::memcpy(in + kRegBytes, b, kRegBytes);
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(dst0 + i * width, in + 2 * i * width, width);
    std::memcpy(dst1 + i * width, in + (2 * i + 1) * width, width);
  }
}

}  // namespace

void RegPack(uint8_t width, Reg* dst, const Reg* src, bool high) try {
  VectorState& state = InFunction("Pack");
  dst->ready = Timed(state, OfWidth(width), *src);
  TrackMove(state, {dst}, {src}, [&] {
    uint8_t temp[kRegBytes];
    PackBytes(dst->shadow, ShadowOf(*src, temp), width, high);
  });
  PackBytes(dst->bytes, src->bytes, width, high);
}
ACLSIM_SKIPS_FAULTS()

void RegUnpack(uint8_t width, bool isSigned, Reg* dst, const Reg* src, bool high) try {
  VectorState& state = InFunction("UnPack");
  dst->ready = Timed(state, OfWidth(width), *src);
  TrackMove(state, {dst}, {src}, [&] {
    uint8_t temp[kRegBytes];
    UnpackBytes(dst->shadow, ShadowOf(*src, temp), width, high, isSigned);
  });
  UnpackBytes(dst->bytes, src->bytes, width, high, isSigned);
}
ACLSIM_SKIPS_FAULTS()

void RegInterleave(uint8_t width, Reg* dst0, Reg* dst1, const Reg* a, const Reg* b) try {
  VectorState& state = InFunction("Interleave");
  dst0->ready = dst1->ready = Timed(state, OfWidth(width), *a, *b);
  TrackMove(state, {dst0, dst1}, {a, b}, [&] {
    uint8_t temp0[kRegBytes], temp1[kRegBytes];
    InterleaveBytes(dst0->shadow, dst1->shadow, ShadowOf(*a, temp0), ShadowOf(*b, temp1), width);
  });
  InterleaveBytes(dst0->bytes, dst1->bytes, a->bytes, b->bytes, width);
}
ACLSIM_SKIPS_FAULTS()

void RegDeinterleave(uint8_t width, Reg* dst0, Reg* dst1, const Reg* a, const Reg* b) try {
  VectorState& state = InFunction("DeInterleave");
  dst0->ready = dst1->ready = Timed(state, OfWidth(width), *a, *b);
  TrackMove(state, {dst0, dst1}, {a, b}, [&] {
    uint8_t temp0[kRegBytes], temp1[kRegBytes];
    DeinterleaveBytes(dst0->shadow, dst1->shadow, ShadowOf(*a, temp0), ShadowOf(*b, temp1), width);
  });
  DeinterleaveBytes(dst0->bytes, dst1->bytes, a->bytes, b->bytes, width);
}
ACLSIM_SKIPS_FAULTS()

void RegArange(DType dtype, Reg* dst, uint64_t first, bool descending) try {
  const VectorState& state = InFunction("Arange");
  dst->ready = Timed(state, dtype);
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

void RegSqueeze(uint8_t width, Reg* dst, const Reg* src, const RegMask& mask, bool store) try {
  VectorState& state = InFunction("Squeeze");
  Prepare(state, mask);
  dst->ready = Timed(state, OfWidth(width), *src, mask);
  const auto squeeze = [&](uint8_t* to, const uint8_t* from) {
    uint8_t out[kRegBytes] = {};
    size_t count = 0;
    for (size_t i = 0; i < kRegBytes / width; ++i) {
      if (Works(mask, width, i)) {
        std::memcpy(out + count++ * width, from + i * width, width);
      }
    }
    std::memcpy(to, out, kRegBytes);
    return count;
  };
  if (state.observed && !IsClean(mask)) {
    std::memset(dst->shadow, 0xFF, kRegBytes);
    SettleShadow(dst, mask.origin);
  } else {
    TrackMove(state, {dst}, {src}, [&] {
      uint8_t temp[kRegBytes];
      squeeze(dst->shadow, ShadowOf(*src, temp));
    });
  }
  const size_t count = squeeze(dst->bytes, src->bytes);
  if (store) {
    state.squeezed = static_cast<uint32_t>(count * width);
  }
}
ACLSIM_SKIPS_FAULTS()

void RegUnsqueeze(uint8_t width, Reg* dst, const RegMask& mask) try {
  VectorState& state = InFunction("Unsqueeze");
  Prepare(state, mask);
  dst->ready = Timed(state, OfWidth(width), mask);
  uint64_t count = 0;
  for (size_t i = 0; i < kRegBytes / width; ++i) {
    std::memcpy(dst->bytes + i * width, &count, width);
    count += Works(mask, width, i) ? 1 : 0;
  }
  dst->state = Reg::kWritten;
  if (state.observed && !IsClean(mask)) {
    std::memset(dst->shadow, 0xFF, kRegBytes);
    SettleShadow(dst, mask.origin);
  }
}
ACLSIM_SKIPS_FAULTS()

uint32_t RegSqueezedBytes() { return ThreadVectorState().squeezed; }
void RegClearSqueezed() { ThreadVectorState().squeezed = 0; }

void RegGatherLanes(uint8_t width, Reg* dst, const Reg* src, const Reg* index) try {
  VectorState& state = InFunction("Gather");
  dst->ready = Timed(state, OfWidth(width), *src, *index);
  const size_t lanes = kRegBytes / width;
  const auto gather = [&](uint8_t* to, const uint8_t* from) {
    uint8_t out[kRegBytes];
    for (size_t i = 0; i < lanes; ++i) {
      uint64_t at = 0;
      std::memcpy(&at, index->bytes + i * width, width);
      std::memcpy(out + i * width, from + at % lanes * width, width);
    }
    std::memcpy(to, out, kRegBytes);
  };
  TrackMove(state, {dst}, {src, index}, [&] {
    uint8_t temp[kRegBytes], temp1[kRegBytes];
    gather(dst->shadow, ShadowOf(*src, temp));
    const uint8_t* const of = ShadowOf(*index, temp1);
    for (size_t i = 0; i < kRegBytes; ++i) {
      dst->shadow[i] |= of[i];
    }
  });
  gather(dst->bytes, src->bytes);
}
ACLSIM_SKIPS_FAULTS()

// --- masks ------------------------------------------------------------------------------------------------------------

RegMask RegCreateMask(uint8_t width, uint32_t lanes, uint32_t every) try {
  const VectorState& state = InFunction("UpdateMask");
  RegMask mask;
  mask.state = Reg::kWritten;
  mask.ready = Timed(state, OfWidth(width));
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
  Prepare(state, a);
  Prepare(state, b);
  if (mask != nullptr) {
    Prepare(state, *mask);
  }
  RegMask result;
  result.ready = mask != nullptr ? Timed(state, DType::kUint8, a, b, *mask)
                                 : Timed(state, DType::kUint8, a, b);
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
  int64_t ready = 0;
  for (const RegMask* mask : src) {
    ready = std::max(ready, mask->ready);
  }
  RegMask sources;
  sources.ready = ready;
  ready = Timed(state, DType::kUint8, sources);
  for (RegMask* mask : dst) {
    mask->ready = ready;
  }
  for (const RegMask* mask : src) {
    Prepare(state, *mask);
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
  const VectorState& state = InFunction("MoveMask");
  RegMask mask;
  mask.ready = Timed(state, OfWidth(width));
  SpreadLanes(reinterpret_cast<const uint8_t*>(state.core->maskBits), width, mask.bits);
  std::fill(std::begin(mask.undefined), std::end(mask.undefined), 0);
  mask.state = Reg::kWritten;
  return mask;
}
ACLSIM_SKIPS_FAULTS({})

void RegMaskOfRegister(uint8_t width, RegMask* dst, const Reg* src, uint32_t part) try {
  const VectorState& state = InFunction("MaskGenWithRegTensor");
  dst->ready = Timed(state, OfWidth(width), *src);
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
