// SPDX-License-Identifier: Apache-2.0
// Lanes as a board does them that differs from what the simulator does by itself (soc/choices.h). None of it has to be fast.
#include <cmath>
#include <cstring>

#include "ascendc/half.h"
#include "device/lanes.h"
#include "soc/choices.h"

namespace aclsim {

namespace {

float Load(float value) { return value; }
float Load(half value) { return HalfToFloat(value.bits); }

// The neighbours of a number are those of its bits.
template <typename T, typename Bits>
T Beside(T value, int step) {
  Bits bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bits = static_cast<Bits>(bits + step);
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

enum class Rounding { kNearest, kTowardZero, kAwayFromZero };

template <typename T>
T Rounded(double exact, Rounding rounding);
template <>
float Rounded<float>(double exact, Rounding rounding) {
  const auto value = static_cast<float>(exact);
  const double magnitude = std::fabs(exact);
  if (!std::isfinite(exact)) {
    return value;
  }
  if (rounding == Rounding::kTowardZero && std::fabs(value) > magnitude) {
    return Beside<float, uint32_t>(value, -1);
  }
  if (rounding == Rounding::kAwayFromZero && std::fabs(value) < magnitude) {
    return Beside<float, uint32_t>(value, 1);
  }
  return value;
}
template <>
half Rounded<half>(double exact, Rounding rounding) {
  half value;
  value.bits = FloatToHalf(static_cast<float>(exact));
  const double magnitude = std::fabs(exact), got = std::fabs(static_cast<double>(Load(value)));
  if (!std::isfinite(exact)) {
    return value;
  }
  if (rounding == Rounding::kTowardZero && got > magnitude) {
    return Beside<half, uint16_t>(value, -1);
  }
  if (rounding == Rounding::kAwayFromZero && got < magnitude) {
    return Beside<half, uint16_t>(value, 1);
  }
  return value;
}

double ExactExp(double x) { return std::exp(x); }
double ExactLn(double x) { return std::log(x); }
double ExactReciprocal(double x) { return 1 / x; }
double ExactRsqrt(double x) { return 1 / std::sqrt(x); }

template <typename T, double (*exact)(double), Rounding rounding>
void Unary(void* dst, const void* a, size_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* x = static_cast<const T*>(a);
  for (size_t i = 0; i < n; ++i) {
    d[i] = Rounded<T>(exact(static_cast<double>(Load(x[i]))), rounding);
  }
}

template <double (*exact)(double), Rounding rounding>
void Replace(LaneTable* table, Op1 op) {
  auto& row = table->unary[static_cast<size_t>(op)];
  row[static_cast<size_t>(DType::kFloat)] = Unary<float, exact, rounding>;
  row[static_cast<size_t>(DType::kHalf)] = Unary<half, exact, rounding>;
}

template <double (*exact)(double)>
void Replace(LaneTable* table, Op1 op, bool towardZero) {
  if (towardZero) {
    Replace<exact, Rounding::kTowardZero>(table, op);
  } else {
    Replace<exact, Rounding::kAwayFromZero>(table, op);
  }
}

void FusedMulAddDst(void* dst, const void* a, const void* b, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  for (size_t i = 0; i < n; ++i) {
    d[i] = std::fma(x[i], y[i], d[i]);
  }
}
void FusedAxpy(void* dst, const void* a, ScalarValue scalar, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const float*>(a);
  for (size_t i = 0; i < n; ++i) {
    d[i] = std::fma(x[i], static_cast<float>(scalar.f), d[i]);
  }
}
template <bool relu>
void FusedDstMulAdd(void* dst, const void* a, const void* b, size_t n) {
  auto* d = static_cast<float*>(dst);
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  for (size_t i = 0; i < n; ++i) {
    const float sum = std::fma(x[i], d[i], y[i]);
    d[i] = relu && !(sum > 0) && sum == sum ? 0.0f : sum;
  }
}

void SequentialSum(const float* a, size_t n, size_t step, size_t repeats, float* out) {
  for (size_t r = 0; r < repeats; ++r) {
    float sum = 0;
    for (size_t i = 0; i < n; ++i) {
      sum = i == 0 ? a[r * step] : sum + a[r * step + i];
    }
    out[r] = sum;
  }
}

// Numbers that differ and are both numbers.
template <typename T>
void NotEqualNumbers(uint8_t* bits, const void* a, const void* b, size_t bStep, size_t n) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  std::memset(bits, 0, n / 8);
  for (size_t i = 0; i < n; ++i) {
    const float u = Load(x[i]), v = Load(y[i * bStep]);
    bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | ((u < v || u > v ? 1 : 0) << (i % 8)));
  }
}

LaneTable::Cast roundToHalf = nullptr;

void CastToFiniteHalf(void* dst, const void* a, Round round, size_t n) {
  roundToHalf(dst, a, round, n);
  if (round != Round::kFloor && round != Round::kCeil && round != Round::kTrunc &&
      round != Round::kOdd) {
    return;
  }
  constexpr uint16_t kInfinity = 0x7c00, kSign = 0x8000;
  auto* d = static_cast<uint16_t*>(dst);
  const auto* x = static_cast<const float*>(a);
  for (size_t i = 0; i < n; ++i) {
    if ((d[i] & ~kSign) == kInfinity && std::isfinite(x[i])) {
      d[i] = static_cast<uint16_t>((d[i] & kSign) | (kInfinity - 1));
    }
  }
}

}  // namespace

void ApplyAlternatives(LaneTable* table) {
  if (const auto exp = static_cast<ExpRounding>(ChosenOf(Choice::kExpRounding));
      exp != ExpRounding::kNearest) {
    Replace<ExactExp>(table, Op1::kExp, exp == ExpRounding::kTowardZero);
  }
  if (const auto ln = static_cast<LnRounding>(ChosenOf(Choice::kLnRounding));
      ln != LnRounding::kNearest) {
    Replace<ExactLn>(table, Op1::kLn, ln == LnRounding::kTowardZero);
  }
  if (ChosenOf(Choice::kReciprocalRounding) != 0) {
    Replace<ExactReciprocal, Rounding::kTowardZero>(table, Op1::kReciprocal);
  }
  if (const auto rsqrt = static_cast<RsqrtRounding>(ChosenOf(Choice::kRsqrtRounding));
      rsqrt == RsqrtRounding::kOnce) {
    Replace<ExactRsqrt, Rounding::kNearest>(table, Op1::kRsqrt);
  } else if (rsqrt == RsqrtRounding::kTowardZero) {
    Replace<ExactRsqrt, Rounding::kTowardZero>(table, Op1::kRsqrt);
  }
  constexpr auto kFloat = static_cast<size_t>(DType::kFloat);
  constexpr auto kHalf = static_cast<size_t>(DType::kHalf);
  if (ChosenOf(Choice::kAxpyRounding) != 0) {
    table->binary[static_cast<size_t>(Op2::kMulAddDst)][kFloat] = FusedMulAddDst;
    table->scalar[static_cast<size_t>(OpScalar::kAxpy)][kFloat] = FusedAxpy;
  }
  if (ChosenOf(Choice::kFusedMulAddRounding) != 0) {
    table->binary[static_cast<size_t>(Op2::kFusedMulAdd)][kFloat] = FusedDstMulAdd<false>;
    table->binary[static_cast<size_t>(Op2::kMulAddRelu)][kFloat] = FusedDstMulAdd<true>;
  }
  if (ChosenOf(Choice::kSumOrder) != 0) {
    table->treeSumFloat = SequentialSum;
  }
  if (ChosenOf(Choice::kCompareNeNan) != 0) {
    auto& row = table->compare[static_cast<size_t>(Compare::kNe)];
    row[kFloat] = NotEqualNumbers<float>;
    row[kHalf] = NotEqualNumbers<half>;
  }
  if (ChosenOf(Choice::kCastHalfOverflow) != 0) {
    roundToHalf = table->cast[kFloat][kHalf];
    table->cast[kFloat][kHalf] = CastToFiniteHalf;
  }
}

}  // namespace aclsim
