// SPDX-License-Identifier: Apache-2.0
#include "device/cube_loops.h"

#include <array>
#include <cstring>

#include "ascendc/half.h"
#include "ascendc/narrow_floats.h"
#include "ascendc/types.h"
#include "host/level.h"

namespace aclsim::ACLSIM_LEVEL {

namespace {

constexpr size_t kPanel = 16;  // columns of B and C
constexpr size_t kBlock = 16;  // rows of a fractal
constexpr size_t kFractal = 512;
constexpr size_t kMostK0 = 64;  // of 4 bits

// A tile of C has kRows rows and kPanels panels: as many sums as the host has registers for.
#if defined(__AVX512F__)
constexpr size_t kLanes = 16, kRows = 8, kPanels = 2;
#elif defined(__AVX__)
constexpr size_t kLanes = 8, kRows = 4, kPanels = 1;
#else
constexpr size_t kLanes = 4, kRows = 4, kPanels = 1;
#endif

template <typename T>
struct LanesOf {
  using Type __attribute__((vector_size(kLanes * sizeof(float)))) = T;
};

template <typename Lanes>
inline Lanes Load(const void* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

inline void Add(float* c, LanesOf<float>::Type sum) {
  const auto lanes = Load<LanesOf<float>::Type>(c) + sum;
  std::memcpy(c, &lanes, sizeof(lanes));
}
inline void Add(int32_t* c, LanesOf<int32_t>::Type sum) {
  for (size_t i = 0; i < kLanes; ++i) {
    const int64_t exact = int64_t{c[i]} + sum[i];
    c[i] = static_cast<int32_t>(exact > INT32_MAX   ? INT32_MAX
                                : exact < INT32_MIN ? INT32_MIN
                                                    : exact);
  }
}

template <size_t rows, size_t panels, typename T>
inline void Tile(T* c, const T* a, const T* b, const CubeProduct& at) {
  using Lanes = typename LanesOf<T>::Type;
  constexpr size_t kInPanel = kPanel / kLanes, kAcross = panels * kInPanel;
  constexpr bool kBySteps = static_cast<T>(0.5F) != 0;  // integers are exact: one sum for all steps
  Lanes sum[rows][kAcross] = {};
  const auto addToC = [&] {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t q = 0; q < kAcross; ++q) {
        Add(c + q / kInPanel * at.panelC + r * kPanel + q % kInPanel * kLanes, sum[r][q]);
        sum[r][q] = Lanes{};
      }
    }
  };
  for (size_t from = 0; from < at.k; from += at.k0, a += at.stepA) {
    const size_t count = from + at.k0 < at.k ? at.k0 : at.k - from;
    for (size_t i = 0; i < count; ++i) {
      Lanes y[kAcross];
      for (size_t q = 0; q < kAcross; ++q) {
        y[q] =
            Load<Lanes>(b + q / kInPanel * at.panelB + (from + i) * kPanel + q % kInPanel * kLanes);
      }
      for (size_t r = 0; r < rows; ++r) {
        const T x = a[r * at.k0 + i];
        for (size_t q = 0; q < kAcross; ++q) {
          sum[r][q] += x * y[q];
        }
      }
    }
    if (kBySteps) {
      addToC();
    }
  }
  if (!kBySteps) {
    addToC();
  }
}

// The rows from `row` on that whole tiles of so many rows cover.
template <size_t rows, size_t panels, typename T>
inline size_t TilesOf(size_t row, T* c, const T* a, const T* b, const CubeProduct& at) {
  for (; row + rows <= at.m; row += rows) {
    Tile<rows, panels>(c + row * kPanel, a + row / kBlock * at.blockA + row % kBlock * at.k0, b,
                       at);
  }
  return row;
}

template <size_t panels, typename T>
void Across(T* c, const T* a, const T* b, const CubeProduct& at) {
  size_t row = TilesOf<kRows, panels>(0, c, a, b, at);
  row = TilesOf<(kRows + 1) / 2, panels>(row, c, a, b, at);
  row = TilesOf<(kRows + 3) / 4, panels>(row, c, a, b, at);
  TilesOf<1, panels>(row, c, a, b, at);
}

template <typename T>
void Product(T* c, const T* a, const T* b, const CubeProduct& at) {
  size_t panel = 0;
  for (; panel + kPanels <= at.panels; panel += kPanels) {
    Across<kPanels>(c + panel * at.panelC, a, b + panel * at.panelB, at);
  }
  for (; panel < at.panels; ++panel) {
    Across<1>(c + panel * at.panelC, a, b + panel * at.panelB, at);
  }
}

void Floats(float* c, const float* a, const float* b, const CubeProduct& at) {
  Product(c, a, b, at);
}
void Integers(int32_t* c, const int32_t* a, const int32_t* b, const CubeProduct& at) {
  Product(c, a, b, at);
}

// To 11 bits behind the binary point, ties to the even one or toward zero.
inline uint32_t ToHf32(uint32_t bits, bool towardZero) {
  constexpr uint32_t kDropped = 12, kHalf = 1u << (kDropped - 1);
  const uint32_t odd = towardZero ? 0 : bits >> kDropped & 1;
  const uint32_t rounded = (bits + kHalf - 1 + odd) & ~((1u << kDropped) - 1);
  return (bits & 0x7F800000u) == 0x7F800000u ? bits : rounded;
}

template <typename Word>
inline void Words(Word* to, const uint8_t* from) {
  std::memcpy(to, from, kFractal);
}

template <float (*Value)(uint8_t), size_t codes>
constexpr auto ValuesOf() {
  std::array<float, codes> values{};
  for (size_t i = 0; i < codes; ++i) {
    values[i] = Value(static_cast<uint8_t>(i));
  }
  return values;
}
constexpr auto kE4m3 = ValuesOf<E4m3ToFloat, 256>();
constexpr auto kE5m2 = ValuesOf<E5m2ToFloat, 256>();
constexpr auto kHif8 = ValuesOf<Hif8ToFloat, 256>();
constexpr auto kE2m1 = ValuesOf<E2m1ToFloat, 16>();
constexpr auto kE1m2 = ValuesOf<E1m2ToFloat, 16>();

inline void ReadBytes(float* to, const uint8_t* from, const std::array<float, 256>& values) {
  for (size_t i = 0; i < kFractal; ++i) {
    to[i] = values[from[i]];
  }
}
inline void ReadNibbles(float* to, const uint8_t* from, const std::array<float, 16>& values) {
  for (size_t i = 0; i < kFractal; ++i) {
    to[2 * i] = values[from[i] & 15];
    to[2 * i + 1] = values[from[i] >> 4];
  }
}

inline void ReadFractal(float* to, const uint8_t* from, CubeForm form) {
  switch (form) {
    case CubeForm::kE4m3:
      ReadBytes(to, from, kE4m3);
      return;
    case CubeForm::kE5m2:
      ReadBytes(to, from, kE5m2);
      return;
    case CubeForm::kHif8:
      ReadBytes(to, from, kHif8);
      return;
    case CubeForm::kE2m1:
      ReadNibbles(to, from, kE2m1);
      return;
    case CubeForm::kE1m2:
      ReadNibbles(to, from, kE1m2);
      return;
    default:
      break;
  }
  if (form == CubeForm::kHalf || form == CubeForm::kBf16) {
    uint16_t words[kFractal / 2];
    Words(words, from);
    if (form == CubeForm::kHalf) {
      for (size_t i = 0; i < kFractal / 2; ++i) {
        to[i] = HalfToFloat(words[i]);
      }
    } else {
      for (size_t i = 0; i < kFractal / 2; ++i) {
        to[i] = Bf16ToFloat(words[i]);
      }
    }
    return;
  }
  if (form == CubeForm::kFloat) {
    std::memcpy(to, from, kFractal);
    return;
  }
  uint32_t words[kFractal / 4];
  Words(words, from);
  for (size_t i = 0; i < kFractal / 4; ++i) {
    to[i] = FloatOf(ToHf32(words[i], form == CubeForm::kHf32TowardZero));
  }
}

inline void ReadFractal(int32_t* to, const uint8_t* from, CubeForm form) {
  if (form == CubeForm::kInt8) {
    for (size_t i = 0; i < kFractal; ++i) {
      to[i] = static_cast<int8_t>(from[i]);
    }
    return;
  }
  if (form == CubeForm::kUint8) {
    for (size_t i = 0; i < kFractal; ++i) {
      to[i] = from[i];
    }
    return;
  }
  for (size_t i = 0; i < kFractal; ++i) {
    to[2 * i] = static_cast<int8_t>(from[i] << 4) >> 4;
    to[2 * i + 1] = static_cast<int8_t>(from[i]) >> 4;
  }
}

constexpr size_t K0Of(CubeForm form) {
  switch (form) {
    case CubeForm::kHalf:
    case CubeForm::kBf16:
      return 16;
    case CubeForm::kInt8:
    case CubeForm::kUint8:
    case CubeForm::kE4m3:
    case CubeForm::kE5m2:
    case CubeForm::kHif8:
      return 32;
    case CubeForm::kInt4:
    case CubeForm::kE2m1:
    case CubeForm::kE1m2:
      return 64;
    default:
      return 8;
  }
}

template <typename T>
inline void Read(T* to, const uint8_t* from, size_t fractals, CubeForm form) {
  for (size_t i = 0; i < fractals; ++i) {
    ReadFractal(to + i * kBlock * K0Of(form), from + i * kFractal, form);
  }
}

template <size_t k0, typename T>
inline void Transpose(T* to, const T* from) {
  for (size_t i = 0; i < k0; ++i) {
    for (size_t n = 0; n < kPanel; ++n) {
      to[i * kPanel + n] = from[n * k0 + i];
    }
  }
}

template <size_t k0, typename T>
inline void PanelsOf(T* to, const uint8_t* from, size_t steps, size_t across, CubeForm form) {
  T numbers[kPanel * kMostK0];
  for (size_t step = 0; step < steps; ++step) {
    for (size_t n1 = 0; n1 < across; ++n1) {
      ReadFractal(numbers, from + (step * across + n1) * kFractal, form);
      Transpose<k0>(to + (n1 * steps + step) * k0 * kPanel, numbers);
    }
  }
}

void ReadFloats(float* to, const uint8_t* from, size_t fractals, CubeForm form) {
  Read(to, from, fractals, form);
}
void ReadIntegers(int32_t* to, const uint8_t* from, size_t fractals, CubeForm form) {
  Read(to, from, fractals, form);
}
void FloatPanels(float* to, const uint8_t* from, size_t steps, size_t across, CubeForm form) {
  switch (K0Of(form)) {
    case 8:
      return PanelsOf<8>(to, from, steps, across, form);
    case 16:
      return PanelsOf<16>(to, from, steps, across, form);
    case 32:
      return PanelsOf<32>(to, from, steps, across, form);
    default:
      return PanelsOf<64>(to, from, steps, across, form);
  }
}
void IntegerPanels(int32_t* to, const uint8_t* from, size_t steps, size_t across, CubeForm form) {
  K0Of(form) == 32 ? PanelsOf<32>(to, from, steps, across, form)
                   : PanelsOf<64>(to, from, steps, across, form);
}

}  // namespace

const CubeTable& TableOfCube();
const CubeTable& TableOfCube() {
  static constexpr CubeTable kTable = {Floats,       Integers,    ReadFloats,
                                       ReadIntegers, FloatPanels, IntegerPanels};
  return kTable;
}

}  // namespace aclsim::ACLSIM_LEVEL
