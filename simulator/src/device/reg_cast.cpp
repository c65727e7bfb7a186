// SPDX-License-Identifier: Apache-2.0
// Conversions of vector registers. The narrower of the two types takes one part of the lanes of the wider.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ascendc/narrow_floats.h"
#include "device/reg.h"
#include "device/vec.h"
#include "device/vec_dtypes_950.h"

namespace aclsim {

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

// Saturating: the largest number in place of infinity, 0 in place of NaN.
void SaturateFloats(DType dtype, uint8_t* lanes, size_t n) {
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

// Types of 8 bits with a point.
struct NarrowFloat {
  DType dtype;
  float (*value)(uint8_t);
  uint8_t (*code)(float);  // the nearest one that is finite
  float beyond;            // from here on, or past here, numbers have none
  uint8_t infinity;        // or NaN, where there is no infinity
};
constexpr NarrowFloat kNarrowFloats[] = {
    {DType::kE4m3, E4m3ToFloat, FloatToE4m3, 0x1.d00002p8f, 0x7F},
    {DType::kE5m2, E5m2ToFloat, FloatToE5m2, 61440.0f, 0x7C},
    {DType::kHif8, Hif8ToFloat, FloatToHif8, 49152.0f, 0x6F},
};
const NarrowFloat* NarrowOf(DType dtype) {
  const auto* const found = std::ranges::find(kNarrowFloats, dtype, &NarrowFloat::dtype);
  return found == std::end(kNarrowFloats) ? nullptr : found;
}

// Between one of them and float or half. Its rounding is the one that its pairs have.
bool ConvertNarrow(DType to, DType from, uint8_t* dst, const uint8_t* src, bool saturate,
                   size_t n) {
  const NarrowFloat* const in = NarrowOf(from);
  const NarrowFloat* const out = NarrowOf(to);
  if ((in == nullptr) == (out == nullptr)) {
    return false;
  }
  for (size_t i = 0; i < n; ++i) {
    if (in != nullptr) {
      const float value = in->value(src[i]);
      const uint16_t half = FloatToHalf(value);
      if (to == DType::kHalf) {
        std::memcpy(dst + 2 * i, &half, sizeof(half));
      } else {
        std::memcpy(dst + 4 * i, &value, sizeof(value));
      }
      continue;
    }
    const float value = LoadLane(from, src + i * WidthOf(from));
    const bool none = !saturate && std::fabs(value) >= out->beyond;
    dst[i] = none ? static_cast<uint8_t>(out->infinity | (std::signbit(value) ? 0x80 : 0))
                  : out->code(value);
  }
  return true;
}

}  // namespace

bool ConvertLanes(DType to, DType from, uint8_t* dst, const uint8_t* src, Round round,
                  bool saturate, size_t n) {
  if (const Conversion integers = IntegerConversion(to, from)) {
    integers(dst, src, n, saturate);
    return true;
  }
  if (ConvertNarrow(to, from, dst, src, saturate, n)) {
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
    SaturateFloats(to, dst, n);
  } else if (!IsReal(to) && IsReal(from) && !saturate) {
    WrapIntegers(to, dst, from, src, round, n);
  }
  return true;
}

namespace {

// CastLanes says where a conversion's lanes are in both registers: n lanes of the wider type, of whose places narrow elements take the part `at`.
struct CastLanes {
  size_t fromWidth, toWidth;
  size_t at;
  size_t wide = std::max(fromWidth, toWidth);
  size_t narrow = std::min(fromWidth, toWidth);
  size_t n = kRegBytes / wide;

  bool Widens() const { return fromWidth < toWidth; }
  size_t From(size_t i) const { return Widens() ? i * wide + at * narrow : i * fromWidth; }
  size_t To(size_t i) const { return toWidth < fromWidth ? i * wide + at * narrow : i * toWidth; }
  // A mask has the lanes of the source: of narrow ones those that are taken.
  bool Works(const RegMask& mask, size_t i) const {
    return aclsim::Works(mask, fromWidth, Widens() ? i * (wide / narrow) + at : i);
  }
  bool AllWork(const RegMask& mask) const {
    if (IsFull(mask, fromWidth)) {
      return true;
    }
    bool all = Widens();
    for (size_t i = 0; i < n && all; ++i) {
      all = Works(mask, i);
    }
    return all;
  }
};

// The elements that are widened, side by side.
void TakeParts(const CastLanes& lanes, const uint8_t* from, uint8_t* in) {
  if (lanes.fromWidth == 2 && lanes.wide == 4) {
    for (size_t i = 0; i < lanes.n; ++i) {
      std::memcpy(in + 2 * i, from + 4 * i + 2 * lanes.at, 2);
    }
    return;
  }
  for (size_t i = 0; i < lanes.n; ++i) {
    std::memcpy(in + i * lanes.narrow, from + lanes.From(i), lanes.narrow);
  }
}

// SettleCast marks the results that are undefined, with where the undefined value came from.
void SettleCast(const VectorState& state, const CastLanes& lanes, Reg* dst, const Reg& src,
                const RegMask& mask, bool merge) {
  if (IsClean(src) && IsClean(mask) && !merge) {
    dst->state = Reg::kWritten;
    return;
  }
  uint8_t temp[kRegBytes], old[kRegBytes], result[kRegBytes] = {};
  const uint8_t* const shadow = ShadowOf(src, temp);
  uint32_t origin = IsClean(src) ? mask.origin : OriginOf(state, src);
  if (merge) {
    std::memcpy(old, ShadowOf(*dst, result), kRegBytes);
    std::memcpy(result, old, kRegBytes);
    origin = origin != 0 || IsClean(*dst) ? origin : OriginOf(state, *dst);
  }
  for (size_t i = 0; i < lanes.n; ++i) {
    const size_t lane = lanes.From(i);
    const bool works = lanes.Works(mask, i);
    uint8_t any = UndefinedAt(mask, lane) ? 0xFF : 0;
    for (size_t j = 0; works && j < lanes.fromWidth; ++j) {
      any |= shadow[lane + j];
    }
    if (works || !merge) {
      std::memset(result + lanes.To(i), any != 0 ? 0xFF : 0, lanes.toWidth);
    }
  }
  Settle(dst, true, result, origin);
}

// Lanes outside of the mask keep what they hold, or are 0.
void StoreLanes(const CastLanes& lanes, Reg* dst, const uint8_t* out, const RegMask& mask,
                bool merge) {
  const bool all = lanes.AllWork(mask);
  const bool whole = lanes.toWidth >= lanes.fromWidth;  // results fill the register
  if (all && whole) {
    std::memcpy(dst->bytes, out, kRegBytes);
    return;
  }
  if (!merge && !whole) {
    std::memset(dst->bytes, 0, kRegBytes);
  }
  if (all && lanes.toWidth == 2 && lanes.fromWidth == 4) {
    for (size_t i = 0; i < lanes.n; ++i) {
      std::memcpy(dst->bytes + 4 * i + 2 * lanes.at, out + 2 * i, 2);
    }
    return;
  }
  for (size_t i = 0; i < lanes.n; ++i) {
    if (all || lanes.Works(mask, i)) {
      std::memcpy(dst->bytes + lanes.To(i), out + i * lanes.toWidth, lanes.toWidth);
    } else if (!merge && whole) {
      std::memset(dst->bytes + lanes.To(i), 0, lanes.toWidth);
    }
  }
}

}  // namespace

void RegCast(DType to, DType from, Reg* dst, const Reg* src, Round round, uint8_t part,
             bool saturate, const RegMask& mask, bool merge) try {
  VectorState& state = InFunction("Cast");
  const DType timed = IsReal(from) ? to : from;  // integers take longer, on either side
  dst->after = merge ? Timed(state, timed, *dst, *src, mask) : Timed(state, timed, *src, mask);
  SettleMask(state, mask);
  const size_t fromWidth = WidthOf(from), toWidth = WidthOf(to);
  const size_t ratio = std::max(fromWidth, toWidth) / std::min(fromWidth, toWidth);
  const CastLanes lanes{fromWidth, toWidth, part % ratio};
  alignas(64) uint8_t in[kRegBytes];
  alignas(64) uint8_t out[kRegBytes];
  const uint8_t* source = src->bytes;
  if (lanes.Widens()) {
    TakeParts(lanes, src->bytes, in);
    source = in;
  }
  if (!ConvertLanes(to, from, out, source, round, saturate, lanes.n)) {
    ThrowFault("cast-unsupported",
               Format("%s to %s does not exist for registers", NameOf(from), NameOf(to)),
               "The device compiler rejects it. Go through a third type.");
  }
  if (state.observed) {
    SettleCast(state, lanes, dst, *src, mask, merge);
  }
  StoreLanes(lanes, dst, out, mask, merge);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
