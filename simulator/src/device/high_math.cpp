// SPDX-License-Identifier: Apache-2.0
// High-level functions of elements: evaluated in double and rounded once. A new one is a row of MakeTable.
#include <array>

#include "device/high.h"
#include "device/high_sizes.h"

namespace aclsim {

namespace {

constexpr double kPi = 3.14159265358979323846;

// b, unless it is absent, is the second source; s the function's constant. A step of 0 repeats one value.
using HighLanes = void (*)(void* dst, const void* a, size_t aStep, const void* b, size_t bStep,
                           ScalarValue s, size_t n);

struct HighRow {
  const char* name = nullptr;
  uint8_t sources = 1;
  bool inPlace = false;  // dst may be a source
  std::array<HighLanes, kDTypes> lanes{};
  HighLanes mixed = nullptr;  // half into float
};

template <typename T, typename S, typename F>
void RunHigh(void* dst, const void* a, size_t aStep, const void* b, size_t bStep, ScalarValue s,
             size_t n) {
  constexpr F kFunction{};
  const auto constant = Lane<T>::Of(s);
  for (size_t i = 0; i < n; ++i) {
    Lane<T>::Store(dst, i,
                   kFunction(Lane<S>::Load(a, i * aStep), Lane<T>::Load(b, i * bStep), constant));
  }
}

template <typename... T, typename F>
constexpr HighRow Row(const char* name, F, uint8_t sources = 1) {
  HighRow row;
  row.name = name;
  row.sources = sources;
  ((row.lanes[static_cast<size_t>(DTypeOf<T>::value)] = &RunHigh<T, T, F>), ...);
  return row;
}
// A function of float and half, as most are.
template <typename F>
constexpr HighRow Floats(const char* name, F function, uint8_t sources = 1) {
  return Row<float, half>(name, function, sources);
}
constexpr HighRow InPlace(HighRow row) {
  row.inPlace = true;
  return row;
}

double Digamma(double x) {
  if (x == 0) {
    return -1 / x;
  }
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) {
      return std::nan("");
    }
    result = -kPi / std::tan(kPi * std::fmod(x, 1.0));
    x = 1 - x;
  }
  for (; x < 10; ++x) {
    result -= 1 / x;
  }
  const double t = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         t * (1.0 / 12 - t * (1.0 / 120 - t * (1.0 / 252 - t * (1.0 / 240 - t / 132))));
}

// lgamma of the C library writes a global.
double LogGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// Powers of integers wrap; a negative exponent leaves the integral part of the reciprocal.
struct PowerOf {
  double operator()(double a, double b, double) const { return std::pow(a, b); }
  int64_t operator()(int64_t a, int64_t b, int64_t) const {
    if (b < 0) {
      return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    }
    uint32_t result = 1;
    for (auto base = static_cast<uint32_t>(a); b != 0; b >>= 1, base *= base) {
      result *= (b & 1) != 0 ? base : 1;
    }
    return static_cast<int32_t>(result);
  }
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
// x * Logistic(s * x), whose limit at minus infinity is 0.
double SwishOf(double x, double s) {
  const double e = std::exp(-s * x);
  return std::isinf(e) ? 0 * std::copysign(1.0, x) : x / (1 + e);
}
double GeluOf(double x) {
  const double cubic = x * (1 + 0.044715 * x * x);
  const double e = std::exp(-1.5957691216057308 * cubic);
  return std::isinf(e) ? 0 * std::copysign(1.0, x) : x / (1 + e);
}
double FasterGeluV2Of(double x) {
  const double distance = std::fmin(std::fabs(0.7071 * x), 1.769) - 1.769;
  const double bell = -0.1444 * distance * distance + 0.5;
  return x * ((x < 0 ? -bell : bell) + 0.5);
}

#define ACLSIM_OF_A(expression) [](double a, double, double) -> double { return expression; }
#define ACLSIM_OF_AB(expression) [](double a, double b, double) -> double { return expression; }
#define ACLSIM_OF_AS(expression) [](double a, double, double s) -> double { return expression; }

constexpr std::array<HighRow, static_cast<size_t>(High::kCount)> MakeTable() {
  std::array<HighRow, static_cast<size_t>(High::kCount)> table{};
  const auto at = [&](High op) -> HighRow& { return table[static_cast<size_t>(op)]; };
  at(High::kLog) = Floats("Log", ACLSIM_OF_A(std::log(a)));
  at(High::kLog2) = Floats("Log2", ACLSIM_OF_A(std::log2(a)));
  at(High::kLog10) = Floats("Log10", ACLSIM_OF_A(std::log10(a)));
  at(High::kExp) = Floats("Exp", ACLSIM_OF_A(std::exp(a)));
  at(High::kPower) = Row<float, half, int32_t>("Power", PowerOf{}, 2);
  at(High::kFloor) = Floats("Floor", ACLSIM_OF_A(std::floor(a)));
  at(High::kCeil) = Floats("Ceil", ACLSIM_OF_A(std::ceil(a)));
  at(High::kRound) = InPlace(Floats("Round", ACLSIM_OF_A(std::nearbyint(a))));
  at(High::kTrunc) = InPlace(Floats("Trunc", ACLSIM_OF_A(std::trunc(a))));
  at(High::kFrac) = Floats("Frac", ACLSIM_OF_A(a - std::trunc(a)));
  at(High::kFmod) = Floats("Fmod", ACLSIM_OF_AB(std::fmod(a, b)), 2);
  at(High::kSign) = Floats("Sign", ACLSIM_OF_A(a > 0 ? 1 : a < 0 ? -1 : 0));
  at(High::kSin) = Floats("Sin", ACLSIM_OF_A(std::sin(a)));
  at(High::kCos) = Floats("Cos", ACLSIM_OF_A(std::cos(a)));
  at(High::kTan) = Floats("Tan", ACLSIM_OF_A(std::tan(a)));
  at(High::kAsin) = Floats("Asin", ACLSIM_OF_A(std::asin(a)));
  at(High::kAcos) = Floats("Acos", ACLSIM_OF_A(std::acos(a)));
  at(High::kAtan) = Floats("Atan", ACLSIM_OF_A(std::atan(a)));
  at(High::kSinh) = Floats("Sinh", ACLSIM_OF_A(std::sinh(a)));
  at(High::kCosh) = Floats("Cosh", ACLSIM_OF_A(std::cosh(a)));
  at(High::kTanh) = Floats("Tanh", ACLSIM_OF_A(std::tanh(a)));
  at(High::kAsinh) = Floats("Asinh", ACLSIM_OF_A(std::asinh(a)));
  at(High::kAcosh) = Floats("Acosh", ACLSIM_OF_A(std::acosh(a)));
  at(High::kAtanh) = Floats("Atanh", ACLSIM_OF_A(std::atanh(a)));
  at(High::kErf) = Floats("Erf", ACLSIM_OF_A(std::erf(a)));
  at(High::kErfc) = Floats("Erfc", ACLSIM_OF_A(std::erfc(a)));
  at(High::kLgamma) = Floats("Lgamma", ACLSIM_OF_A(LogGamma(a)));
  at(High::kDigamma) = Floats("Digamma", ACLSIM_OF_A(Digamma(a)));
  at(High::kXor) =
      Row<int16_t, uint16_t>("Xor", [](int64_t a, int64_t b, int64_t) { return a ^ b; }, 2);
  at(High::kClampMax) = Floats("ClampMax", ACLSIM_OF_AS(a > s ? s : a));
  at(High::kClampMin) = Floats("ClampMin", ACLSIM_OF_AS(a < s ? s : a));
  const auto axpy = [](double a, double b, double s) { return a * s + b; };
  at(High::kAxpy) = Floats("Axpy", axpy, 2);
  at(High::kAxpy).mixed = &RunHigh<float, half, decltype(axpy)>;
  at(High::kSigmoid) = Floats("Sigmoid", ACLSIM_OF_A(Logistic(a)));
  at(High::kGelu) = InPlace(Floats("Gelu", ACLSIM_OF_A(GeluOf(a))));
  at(High::kFasterGelu) = InPlace(Floats("FasterGelu", ACLSIM_OF_A(SwishOf(a, 1.702))));
  at(High::kFasterGeluV2) = InPlace(Floats("FasterGeluV2", ACLSIM_OF_A(FasterGeluV2Of(a))));
  at(High::kSilu) = Floats("Silu", ACLSIM_OF_A(SwishOf(a, 1)));
  at(High::kSwish) = Floats("Swish", ACLSIM_OF_AS(SwishOf(a, s)));
  at(High::kGeGlu) = Floats("GeGLU", ACLSIM_OF_AB(a * GeluOf(b)), 2);
  at(High::kSwiGlu) =
      Floats("SwiGLU", [](double a, double b, double s) { return a * SwishOf(b, s); }, 2);
  at(High::kReGlu) = Row<float, half, bfloat16_t>("ReGlu", ACLSIM_OF_AB(a * (b <= 0 ? 0 : b)), 2);
  return table;
}

#undef ACLSIM_OF_A
#undef ACLSIM_OF_AB
#undef ACLSIM_OF_AS

constexpr auto kTable = MakeTable();
static_assert(
    [] {
      for (const HighRow& row : kTable) {
        if (row.name == nullptr) {
          return false;
        }
      }
      return true;
    }(),
    "every High has a row");

// The values that a function's page allows; elsewhere its results are invalid, though they are right here.
struct Domain {
  High op;
  double least, most;  // of the magnitude or of the value
  bool magnitude, open;
  bool old, young;  // on 2002; on 2201
  const char* text;
};
constexpr double kMostHalf = 65504;
constexpr Domain kDomains[] = {
    {High::kSin, 0, kMostHalf, true, false, true, true, "[-65504, 65504]"},
    {High::kCos, 0, kMostHalf, true, false, true, true, "[-65504, 65504]"},
    {High::kTan, 0, kMostHalf, true, true, true, true, "(-65504, 65504)"},
    {High::kAsin, 0, 1, true, false, true, true, "[-1, 1]"},
    {High::kAcos, 0, 1, true, false, true, true, "[-1, 1]"},
    {High::kAcosh, 1, kMostHalf, false, false, true, true, "[1, 65504]"},
    {High::kAsinh, 0, kMostHalf, true, false, true, true, "[-65504, 65504]"},
    {High::kAtanh, 0.001, 0.99, true, true, true, true, "(-0.99, -0.001) and (0.001, 0.99)"},
    {High::kCeil, 0, 2147483647, true, false, true, false, "[-2147483647, 2147483647]"},
    {High::kFloor, 0, 2147483647, true, false, true, false, "[-2147483647, 2147483647]"},
    {High::kTrunc, 0, 2147483647, true, false, true, false, "[-2147483647, 2147483647]"},
    {High::kFrac, 0, 2147483647, true, false, true, false, "[-2147483647, 2147483647]"},
    {High::kFmod, 0, 2147483647, true, false, true, false, "[-2147483647, 2147483647]"},
};

void CheckDomain(Core& core, High op, const Ub& src, size_t count) {
  for (const Domain& domain : kDomains) {
    const bool here =
        core.soc.npuArch == 2002 ? domain.old : core.soc.npuArch == 2201 && domain.young;
    if (domain.op != op || !here) {
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      const double value = LoadFloat(src.dtype, src.addr, static_cast<int64_t>(i));
      const double judged = domain.magnitude ? std::fabs(value) : value;
      const bool inside = domain.open ? judged > domain.least && judged < domain.most
                                      : judged >= domain.least && judged <= domain.most;
      // Zero is inside an open range around it, and a NaN stays one.
      if (!inside && value == value && !(domain.open && domain.least == 0 && value == 0)) {
        FindValue(core, value, i, domain.text,
                  "The page of this function excludes the value: hardware gives an invalid result, "
                  "the simulator the exact one. Reduce or clamp the argument first.");
        return;
      }
    }
  }
}

int64_t LeastScratch(High op, const HighElements& call, size_t width) {
  if (op == High::kPower) {
    return PowerScratch(call.dst.dtype, !call.scalar[0] && !call.scalar[1]);
  }
  if (op == High::kClampMax || op == High::kClampMin) {
    return kRepeatBytes / static_cast<int64_t>(width);  // one byte per element of a repeat
  }
  const HighScratch scratch = ScratchOf(op);
  const uint32_t single = call.reuseSource ? scratch.singleReused : scratch.single;
  return int64_t{LeastRepeats(op, width == sizeof(float) ? single : scratch.half)} * kScratchRepeat;
}

Element ElementOf(DType dtype, ScalarValue value) {
  Element element{};
  switch (dtype) {
    case DType::kHalf:
      Lane<half>::Store(element.data(), 0, value.f);
      break;
    case DType::kInt32:
      Lane<int32_t>::Store(element.data(), 0, value.i);
      break;
    default:
      Lane<float>::Store(element.data(), 0, value.f);
  }
  return element;
}

}  // namespace

void HighElement(High op, const HighElements& call) try {
  Core& core = Core::Current();
  const HighRow& row = kTable[static_cast<size_t>(op)];
  core.instruction = row.name;
  const DType from = call.scalar[0] ? call.src[1].dtype : call.src[0].dtype;
  const bool mixed = from != call.dst.dtype;
  const HighLanes lanes =
      mixed ? (from == DType::kHalf ? row.mixed : nullptr) : row.lanes[static_cast<size_t>(from)];
  if (lanes == nullptr) {
    UnsupportedDType(core, row.name, call.dst.dtype);
  }
  ResetMaskRegister(core);
  if (call.count == 0) {
    return;
  }
  const size_t width = WidthOf(call.dst.dtype);
  const int64_t bytes = int64_t{call.count} * static_cast<int64_t>(width);
  const HighOperand dst = {&call.dst, bytes, "dst"};
  CheckHighOperand(core, dst);
  std::array<HighOperand, 2> sources = {dst, dst};  // absent ones take part in no check
  constexpr std::array<const char*, 2> kRoles = {"src0", "src1"};
  for (size_t i = 0; i < row.sources; ++i) {
    if (call.scalar[i]) {
      continue;
    }
    const auto sourceBytes = int64_t{call.count} * static_cast<int64_t>(WidthOf(call.src[i].dtype));
    sources[i] = {&call.src[i], sourceBytes, row.sources == 1 ? "src" : kRoles[i]};
    CheckHighOperand(core, sources[i]);
    CheckHighOverlap(core, dst, sources[i], row.inPlace || (op == High::kAxpy && i == 1));
  }
  const int64_t least = LeastScratch(op, call, WidthOf(from));
  constexpr int64_t kPieces =
      kRepeatBytes / kBlock;  // a block of each temporary instead of a repeat
  CheckHighWork(core, call.work, least, least / kPieces, {dst, sources[0], sources[1]});
  const auto read = [&](size_t i) {
    const bool present = i < row.sources && !call.scalar[i];
    return UbAccess(core, Use::kRead, *sources[i].ub, present ? sources[i].bytes : 0);
  };
  IssueHighLevel(
      core, Flow::kLanes, call.dst.dtype,
      {WorkAccess(core, call.work), UbAccess(core, Use::kWrite, call.dst, bytes), read(0), read(1)},
      [=, &core, second = row.sources == 2] {
        if (core.Observed() && IsFloat(from) && !call.scalar[0]) {
          CheckDomain(core, op, call.src[0], call.count);
        }
        const Element element = ElementOf(call.dst.dtype, call.value);
        const auto operand = [&](size_t i) -> const uint8_t* {
          return call.scalar[i] ? element.data() : call.src[i].addr;
        };
        const uint8_t* a = operand(0);
        lanes(call.dst.addr, a, call.scalar[0] ? 0 : 1, second ? operand(1) : call.dst.addr,
              call.scalar[1] ? 0 : 1, call.value, call.count);
        SpoilHighWork(call.work);
      });
}
ACLSIM_SKIPS_FAULTS()

}  // namespace aclsim
