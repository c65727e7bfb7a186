// SPDX-License-Identifier: Apache-2.0
// The loops of device/cube_loops.h against their description, on every instruction set that this host has: the same bits as products one
// by one. Prints a line per fault, then what was looked at.
#include "device/cube_loops.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "ascendc/half.h"

namespace aclsim {

namespace baseline {
const CubeTable& TableOfCube();
}
#ifdef __x86_64__
// Instrumented builds lack these.
namespace v3 {
[[gnu::weak]] const CubeTable& TableOfCube();
}
namespace v4 {
[[gnu::weak]] const CubeTable& TableOfCube();
}
#endif

namespace {

constexpr size_t kFractal = 512, kRows = 16;
int faults = 0;

size_t Up(size_t value, size_t by) { return (value + by - 1) / by; }

struct Sizes {
  size_t m, n, k, k0;
};

// A in rows of fractals, B in fractals as L0B has them, C in panels: as bytes that a form reads.
template <typename T>
struct Operands {
  Sizes s;
  size_t steps, across;
  std::vector<uint8_t> a, b;
  std::vector<T> c;

  Operands(const Sizes& sizes, std::mt19937* random) : s(sizes) {
    steps = Up(s.k, s.k0);
    across = Up(s.n, kRows);
    a.resize(Up(s.m, kRows) * steps * kFractal);
    b.resize(steps * across * kFractal);
    c.resize(across * Up(s.m, kRows) * kRows * kRows);
    for (T& value : c) {
      value = static_cast<T>(static_cast<int32_t>((*random)()));
    }
  }
  CubeProduct Product() const {
    CubeProduct product;
    product.m = s.m;
    product.k = s.k;
    product.k0 = s.k0;
    product.panels = across;
    product.stepA = kRows * s.k0;
    product.blockA = steps * kRows * s.k0;
    product.panelB = steps * s.k0 * kRows;
    product.panelC = Up(s.m, kRows) * kRows * kRows;
    return product;
  }
  // The place of a number in what is read from a and b, and in c.
  size_t OfA(size_t m, size_t k) const {
    return ((m / kRows * steps + k / s.k0) * kRows + m % kRows) * s.k0 + k % s.k0;
  }
  size_t OfB(size_t k, size_t n) const {
    return ((k / s.k0 * across + n / kRows) * kRows + n % kRows) * s.k0 + k % s.k0;
  }
  size_t OfC(size_t m, size_t n) const {
    return n / kRows * Product().panelC + m * kRows + n % kRows;
  }
};

void Look(const char* level, const char* what, const Sizes& s, const void* got, const void* want,
          size_t bytes) {
  if (std::memcmp(got, want, bytes) != 0) {
    std::printf("%s %s %zu x %zu x %zu: other bits\n", level, what, s.m, s.n, s.k);
    ++faults;
  }
}

void Halves(const char* level, const CubeTable& loops, const Sizes& s, std::mt19937* random) {
  Operands<float> in(s, random);
  for (std::vector<uint8_t>* bytes : {&in.a, &in.b}) {
    for (size_t i = 0; i < bytes->size(); i += 2) {
      const uint16_t half = FloatToHalf(static_cast<float>((*random)() % 2001) / 37 - 27);
      std::memcpy(bytes->data() + i, &half, sizeof(half));
    }
  }
  const auto number = [](const std::vector<uint8_t>& bytes, size_t at) {
    uint16_t half;
    std::memcpy(&half, bytes.data() + at * 2, sizeof(half));
    return HalfToFloat(half);
  };
  std::vector<float> want = in.c;
  for (size_t m = 0; m < s.m; ++m) {
    for (size_t n = 0; n < in.across * kRows; ++n) {
      for (size_t from = 0; from < s.k; from += s.k0) {
        float sum = 0;
        for (size_t k = from; k < std::min(from + s.k0, s.k); ++k) {
          sum += number(in.a, in.OfA(m, k)) * number(in.b, in.OfB(k, n));
        }
        want[in.OfC(m, n)] += sum;
      }
    }
  }
  std::vector<float> a(in.a.size() / 2), b(in.b.size() / 2);
  loops.readFloats(a.data(), in.a.data(), in.a.size() / kFractal, CubeForm::kHalf);
  loops.floatPanels(b.data(), in.b.data(), in.steps, in.across, CubeForm::kHalf);
  loops.floats(in.c.data(), a.data(), b.data(), in.Product());
  Look(level, "half", s, in.c.data(), want.data(), want.size() * sizeof(float));
}

// int8_t, and sums that saturate: C begins with any number.
void Integers(const char* level, const CubeTable& loops, const Sizes& s, std::mt19937* random) {
  Operands<int32_t> in(s, random);
  for (std::vector<uint8_t>* bytes : {&in.a, &in.b}) {
    for (uint8_t& byte : *bytes) {
      byte = static_cast<uint8_t>((*random)());
    }
  }
  std::vector<int32_t> want = in.c;
  for (size_t m = 0; m < s.m; ++m) {
    for (size_t n = 0; n < in.across * kRows; ++n) {
      int64_t sum = want[in.OfC(m, n)];
      for (size_t k = 0; k < s.k; ++k) {
        sum += int64_t{static_cast<int8_t>(in.a[in.OfA(m, k)])} *
               static_cast<int8_t>(in.b[in.OfB(k, n)]);
      }
      want[in.OfC(m, n)] = static_cast<int32_t>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
    }
  }
  std::vector<int32_t> a(in.a.size()), b(in.b.size());
  loops.readIntegers(a.data(), in.a.data(), in.a.size() / kFractal, CubeForm::kInt8);
  loops.integerPanels(b.data(), in.b.data(), in.steps, in.across, CubeForm::kInt8);
  loops.integers(in.c.data(), a.data(), b.data(), in.Product());
  Look(level, "int8_t", s, in.c.data(), want.data(), want.size() * sizeof(int32_t));
}

int Try(const char* level, const CubeTable& loops) {
  std::mt19937 random(7);
  int tried = 0;
  for (const size_t m : {1, 2, 7, 8, 15, 16, 29, 48}) {
    for (const size_t n : {1, 16, 33, 64}) {
      for (const size_t k : {1, 16, 31, 80}) {
        Halves(level, loops, {m, n, k, 16}, &random);
        Integers(level, loops, {m, n, k, 32}, &random);
        tried += 2;
      }
    }
  }
  return tried;
}

}  // namespace

}  // namespace aclsim

int main() {
  int tried = aclsim::Try("baseline", aclsim::baseline::TableOfCube());
#ifdef __x86_64__
  if (aclsim::v3::TableOfCube != nullptr && __builtin_cpu_supports("avx2")) {
    tried += aclsim::Try("v3", aclsim::v3::TableOfCube());
  }
  if (aclsim::v4::TableOfCube != nullptr && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    tried += aclsim::Try("v4", aclsim::v4::TableOfCube());
  }
#endif
  std::printf("%d products: %d faults\n", tried, aclsim::faults);
  return aclsim::faults == 0 ? 0 : 1;
}
