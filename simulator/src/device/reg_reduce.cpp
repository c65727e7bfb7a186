// SPDX-License-Identifier: Apache-2.0
// Sums and extremes of a vector register: of all its lanes, of each block, of pairs.
#include <cmath>
#include <limits>
#include <utility>

#include "device/reg.h"
#include "device/vec.h"

namespace aclsim {

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

// The extreme of lanes that work, and the first lane that has it: `none`, and 0, when none does.
template <typename T, typename ValueOf>
size_t Extreme(bool most, T none, ValueOf&& valueOf, uint8_t* dst, const uint8_t* src,
               const RegMask& mask, size_t first, size_t n) {
  T best = none;
  size_t at = 0;
  bool any = false;
  for (size_t i = 0; i < n; ++i) {
    if (!Works(mask, sizeof(T), first + i)) {
      continue;
    }
    const T lane = Read<T>(src + (first + i) * sizeof(T));
    const auto value = valueOf(lane), held = valueOf(best);
    bool better = !any || (most ? value > held : value < held);
    if constexpr (std::is_floating_point_v<decltype(valueOf(none))>) {
      if (value != value) {
        best = lane;
        at = i;
        break;
      }
      const bool zeros = any && value == 0 && held == 0;
      better = better || (zeros && (most ? std::signbit(held) && !std::signbit(value)
                                         : !std::signbit(held) && std::signbit(value)));
    }
    if (better) {
      best = lane;
      at = i;
      any = true;
    }
  }
  std::memcpy(dst, &best, sizeof(T));
  return at;
}
template <typename T>
size_t Extreme(bool most, uint8_t* dst, const uint8_t* src, const RegMask& mask, size_t first,
               size_t n) {
  using Limits = std::numeric_limits<T>;
  T none = most ? Limits::lowest() : Limits::max();
  if constexpr (Limits::has_infinity) {
    none = most ? -Limits::infinity() : Limits::infinity();
  }
  return Extreme<T>(most, none, [](T value) { return value; }, dst, src, mask, first, n);
}
size_t HalfExtreme(bool most, uint8_t* dst, const uint8_t* src, const RegMask& mask, size_t first,
                   size_t n) {
  return Extreme<uint16_t>(most, most ? 0xfc00 : 0x7c00, HalfToFloat, dst, src, mask, first, n);
}
// Returns the lane, or SIZE_MAX for a type without.
size_t ExtremeOf(bool most, DType dtype, uint8_t* dst, const uint8_t* src, const RegMask& mask,
                 size_t first, size_t n) {
  using Find = size_t (*)(bool, uint8_t*, const uint8_t*, const RegMask&, size_t, size_t);
  constexpr std::pair<DType, Find> kFinds[] = {
      {DType::kFloat, Extreme<float>},   {DType::kHalf, HalfExtreme},
      {DType::kInt16, Extreme<int16_t>}, {DType::kUint16, Extreme<uint16_t>},
      {DType::kInt32, Extreme<int32_t>}, {DType::kUint32, Extreme<uint32_t>},
      {DType::kInt64, Extreme<int64_t>}, {DType::kUint64, Extreme<uint64_t>}};
  for (const auto& [type, find] : kFinds) {
    if (type == dtype) return find(most, dst, src, mask, first, n);
  }
  return SIZE_MAX;
}

// Returns whether a lane that works is undefined, in [first, first + n).
bool TakesUndefined(const Reg& src, const RegMask& mask, size_t width, size_t first, size_t n) {
  if (IsClean(src) && IsClean(mask)) {
    return false;
  }
  uint8_t temp[kRegBytes];
  const uint8_t* const shadow = ShadowOf(src, temp);
  for (size_t lane = first; lane < first + n; ++lane) {
    const size_t at = lane * width;
    if (UndefinedAt(mask, at) || (Works(mask, width, lane) && AnyUndefined(shadow + at, width))) {
      return true;
    }
  }
  return false;
}
// The instruction has made this of src: its lanes, and their shadow when a lane of it is undefined.
void Finish(const VectorState& state, Reg* dst, const Reg& src, const RegMask& mask,
            const uint8_t* lanes, bool undefined, const uint8_t* shadow) {
  if (state.observed) {
    const uint32_t origin = IsClean(src) ? mask.origin : OriginOf(state, src);
    Settle(dst, undefined, shadow, origin);
  }
  std::memcpy(dst->bytes, lanes, kRegBytes);
}

const char* ReduceName(ReduceOp op) {
  return op == ReduceOp::kSum ? "ReduceSum" : op == ReduceOp::kMax ? "ReduceMax" : "ReduceMin";
}

}  // namespace

void RegReduce(ReduceOp op, DType to, DType from, Reg* dst, const Reg* src,
               const RegMask& mask) try {
  VectorState& state = InFunction(ReduceName(op));
  dst->after = Timed(state, from, *src, mask);
  SettleMask(state, mask);
  const size_t width = WidthOf(from);
  const size_t n = kRegBytes / width;
  uint8_t out[kRegBytes] = {}, shadow[kRegBytes] = {};
  size_t bytes = WidthOf(to);
  if (op == ReduceOp::kSum) {
    if (!Sum(to, from, out, src->bytes, mask, 0, n)) {
      RegisterDType(state.core->instruction, from);
    }
  } else {
    const size_t lane = ExtremeOf(op == ReduceOp::kMax, from, out, src->bytes, mask, 0, n);
    if (lane == SIZE_MAX || to != from) {
      RegisterDType(state.core->instruction, from);
    }
    std::memcpy(out + width, &lane, width);
    bytes = 2 * width;
  }
  const bool undefined = state.observed && TakesUndefined(*src, mask, width, 0, n);
  std::memset(shadow, 0xFF, bytes);
  Finish(state, dst, *src, mask, out, undefined, shadow);
}
ACLSIM_SKIPS_FAULTS()

void RegReduceBlocks(ReduceOp op, DType to, DType from, Reg* dst, const Reg* src,
                     const RegMask& mask) try {
  VectorState& state = InFunction("ReduceDataBlock");
  dst->after = Timed(state, from, *src, mask);
  SettleMask(state, mask);
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
    if (state.observed && TakesUndefined(*src, mask, width, block * n, n)) {
      undefined = true;
      std::memset(shadow + block * result, 0xFF, result);
    }
  }
  Finish(state, dst, *src, mask, out, undefined, shadow);
}
ACLSIM_SKIPS_FAULTS()

void RegReducePairs(DType dtype, Reg* dst, const Reg* src, const RegMask& mask) try {
  VectorState& state = InFunction("PairReduceElem");
  dst->after = Timed(state, dtype, *src, mask);
  SettleMask(state, mask);
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
    if (state.observed && TakesUndefined(*src, mask, width, 2 * i, 2)) {
      undefined = true;
      std::memset(shadow + i * width, 0xFF, width);
    }
  }
  Finish(state, dst, *src, mask, out, undefined, shadow);
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
