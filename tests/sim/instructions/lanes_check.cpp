// SPDX-License-Identifier: Apache-2.0
// The tables of device/lanes.h against their description, on every instruction set that this host has:
//   lanes_check floats STRIDE   Exp and Ln of every STRIDE-th bit pattern of float: the correctly rounded value, everywhere
//   lanes_check copies          large copies at every alignment: the bytes that were asked for, and no others
//   lanes_check alike           arithmetic and comparisons of every type: the same bits on each, but for those of a NaN
// STRIDE 1 takes all 2^32 patterns, on the best instruction set alone: some minutes.
// Prints a line per fault, then what was looked at.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "device/lanes.h"

namespace aclsim {

namespace baseline {
const LaneTable& Table();
}
#ifdef __x86_64__
// Instrumented builds lack these.
namespace v3 {
[[gnu::weak]] const LaneTable& Table();
}
namespace v4 {
[[gnu::weak]] const LaneTable& Table();
}
#endif

namespace {

struct Level {
  const char* name;
  const LaneTable& (*table)();
};

// All that this host can run, the best one last.
std::vector<Level> Levels() {
  std::vector<Level> levels = {{"baseline", baseline::Table}};
#ifdef __x86_64__
  if (v3::Table != nullptr && __builtin_cpu_supports("x86-64-v3")) {
    levels.push_back({"v3", v3::Table});
  }
  if (v4::Table != nullptr && __builtin_cpu_supports("x86-64-v4")) {
    levels.push_back({"v4", v4::Table});
  }
#endif
  return levels;
}

// The nearest float. Double decides unless the value is so close to a tie that double's own error matters.
template <typename Narrow, typename Wide>
float Nearest(float x, Narrow narrow, Wide wide) {
  const double value = narrow(static_cast<double>(x));
  const double margin = std::fabs(value) * 4 * std::numeric_limits<double>::epsilon();
  const auto low = static_cast<float>(value - margin);
  const auto high = static_cast<float>(value + margin);
  return low == high ? low : static_cast<float>(wide(static_cast<long double>(x)));
}

struct Function {
  const char* name;
  Op1 op;
  float (*nearest)(float);
};

const Function kFunctions[] = {
    {"Exp", Op1::kExp,
     [](float x) {
       return Nearest(
           x, [](double v) { return std::exp(v); }, [](long double v) { return std::exp(v); });
     }},
    {"Ln", Op1::kLn, [](float x) {
       return Nearest(
           x, [](double v) { return std::log(v); }, [](long double v) { return std::log(v); });
     }}};

// Those that come within 1e-15 of a tie, and those of Exp at which pairs of floats would err the most.
const float kHardest[] = {-0x1.d2259ap+3f, 0x1.112856p+6f, 0x1.bacb4ap+25f, 0x1.b121a6p+76f,
                          0x1.6351d8p+95f, 0x1.a778f8p-7f, 0x1.be232ap-5f,  0x1.a104eap-3f,
                          0x1.13ddc2p+1f,  0x1.df2278p+4f, 0x1.a47864p+5f,  0x1.f3ac24p+5f,
                          -0x1.9bc6d4p-7f, -0x1.377704p-4f};

bool Same(float a, float b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

int CheckFloats(uint64_t stride) {
  constexpr size_t kBatch = 1 << 16;
  constexpr uint64_t kPatterns = 1ull << 32;
  std::vector<Level> levels = Levels();
  if (stride == 1) {
    levels = {levels.back()};
  }
  std::vector<float> x(kBatch), best(kBatch), other(kBatch);
  uint64_t values = 0, faults = 0;
  for (uint64_t pattern = 0; pattern < kPatterns;) {
    size_t n = 0;
    if (pattern == 0) {
      n = std::size(kHardest);
      std::copy_n(kHardest, n, x.begin());
    }
    for (; n < kBatch && pattern < kPatterns; ++n, pattern += stride) {
      const auto bits = static_cast<uint32_t>(pattern);
      std::memcpy(&x[n], &bits, sizeof(bits));
    }
    values += n;
    for (const Function& function : kFunctions) {
      const auto run = [&](const Level& level, float* out) {
        level.table().unary[static_cast<size_t>(function.op)][static_cast<size_t>(DType::kFloat)](
            out, x.data(), n);
      };
      const auto fault = [&](const char* level, float from, float got, float wanted) {
        if (++faults <= 20) {
          std::printf("%s(%a) on %s: %a, want %a\n", function.name, static_cast<double>(from),
                      level, static_cast<double>(got), static_cast<double>(wanted));
        }
      };
      run(levels.back(), best.data());
      for (size_t i = 0; i < n; ++i) {
        if (std::isnan(x[i]) ? !Same(best[i], x[i]) : false) {
          fault(levels.back().name, x[i], best[i], x[i]);
        } else if (!std::isnan(x[i])) {
          const float wanted = function.nearest(x[i]);
          if (std::isnan(wanted) ? !std::isnan(best[i]) : !Same(best[i], wanted)) {
            fault(levels.back().name, x[i], best[i], wanted);
          }
        }
      }
      for (size_t i = 0; i + 1 < levels.size(); ++i) {
        run(levels[i], other.data());
        for (size_t j = 0; j < n; ++j) {
          if (!Same(other[j], best[j])) {
            fault(levels[i].name, x[j], other[j], best[j]);
          }
        }
      }
    }
  }
  std::printf("%llu values on", static_cast<unsigned long long>(values));
  for (const Level& level : levels) {
    std::printf(" %s", level.name);
  }
  std::printf(": %llu faults\n", static_cast<unsigned long long>(faults));
  return faults == 0 ? 0 : 1;
}

int CheckCopies() {
  constexpr size_t kMost = 600;
  constexpr size_t kRoom = 128;
  constexpr uint8_t kUntouched = 0xEE;
  std::vector<uint8_t> source(kMost + kRoom), target(kMost + 2 * kRoom);
  for (size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<uint8_t>(i % 199);
  }
  uint64_t copies = 0, faults = 0;
  for (const Level& level : Levels()) {
    for (const LaneTable::Copy copy : {level.table().load, level.table().stream}) {
      for (size_t align = 0; align < 64; ++align) {
        for (size_t n = 0; n <= kMost; n += n < 150 ? 1 : 37) {
          std::fill(target.begin(), target.end(), kUntouched);
          uint8_t* const dst = target.data() + kRoom + align;
          const uint8_t* const src = source.data() + align % 7;
          copy(dst, src, n);
          bool good = std::memcmp(dst, src, n) == 0;
          for (const uint8_t* at = target.data(); at < target.data() + target.size(); ++at) {
            good = good && (*at == kUntouched || (at >= dst && at < dst + n));
          }
          ++copies;
          if (!good && ++faults <= 20) {
            std::printf("copy of %zu bytes to alignment %zu on %s\n", n, align, level.name);
          }
        }
      }
    }
  }
  std::printf("%llu copies: %llu faults\n", static_cast<unsigned long long>(copies),
              static_cast<unsigned long long>(faults));
  return faults == 0 ? 0 : 1;
}

// Numbers of which many are special, each type's own and small integers.
std::vector<uint64_t> Samples(DType dtype, uint64_t seed, size_t n) {
  std::mt19937_64 random(seed);
  std::vector<uint64_t> words(n);
  for (uint64_t& word : words) {
    word = random();
  }
  auto* const bytes = reinterpret_cast<uint8_t*>(words.data());
  const size_t width = WidthOf(dtype);
  const bool real = dtype == DType::kFloat || dtype == DType::kBf16;
  for (size_t i = 0; i < n; i += 1 + random() % 4) {
    const uint32_t special = std::array<uint32_t, 7>{0,          0x80000000, 0x7f800000, 0xff800000,
                                                     0x3f800000, 0xbf800000, 1}[random() % 7];
    const uint64_t value = dtype == DType::kHalf ? FloatToHalf(FloatOf(special))
                           : real                ? special >> (32 - 8 * width)
                                                 : random() % 80 - 8;
    std::memcpy(bytes + i * width, &value, width);
  }
  return words;
}

bool IsNan(DType dtype, const uint8_t* lane) {
  uint32_t bits = 0;
  std::memcpy(&bits, lane, std::min<size_t>(WidthOf(dtype), sizeof(bits)));
  return dtype == DType::kFloat  ? (bits & 0x7fffffff) > 0x7f800000
         : dtype == DType::kHalf ? (bits & 0x7fff) > 0x7c00
                                 : dtype == DType::kBf16 && (bits & 0x7fff) > 0x7f80;
}

int CheckAlike() {
  constexpr size_t kLanes = 2056;
  const std::vector<Level> levels = Levels();
  uint64_t functions = 0, faults = 0;
  // run(table, dst) is false where the table has no such function.
  const auto alike = [&](const char* what, size_t op, DType dtype, size_t bytes, auto run) {
    std::vector<uint64_t> first = Samples(dtype, 3, kLanes);
    if (!run(levels[0].table(), first.data())) {
      return;
    }
    ++functions;
    for (size_t level = 1; level < levels.size(); ++level) {
      std::vector<uint64_t> other = Samples(dtype, 3, kLanes);
      run(levels[level].table(), other.data());
      const auto* const a = reinterpret_cast<const uint8_t*>(first.data());
      const auto* const b = reinterpret_cast<const uint8_t*>(other.data());
      const size_t width = WidthOf(dtype);
      for (size_t at = 0; at < bytes; at += width) {
        const bool nan = IsNan(dtype, a + at) && IsNan(dtype, b + at);
        if (!nan && std::memcmp(a + at, b + at, width) != 0 && ++faults <= 20) {
          std::printf("%s %zu of %s on %s differs at byte %zu\n", what, op, NameOf(dtype),
                      levels[level].name, at);
          break;
        }
      }
    }
  };
  for (size_t type = 0; type < kDTypes; ++type) {
    const auto dtype = static_cast<DType>(type);
    const std::vector<uint64_t> a = Samples(dtype, 1, kLanes), b = Samples(dtype, 2, kLanes);
    const size_t bytes = kLanes * WidthOf(dtype);
    const auto two = [&](const char* what, auto LaneTable::* rows) {
      for (size_t op = 0; op < std::size(levels[0].table().*rows); ++op) {
        alike(what, op, dtype, bytes, [&](const LaneTable& table, void* dst) {
          const LaneTable::Binary body = (table.*rows)[op][type];
          return body != nullptr && (body(dst, a.data(), b.data(), kLanes), true);
        });
      }
    };
    const auto one = [&](const char* what, auto LaneTable::* rows) {
      for (size_t op = 0; op < std::size(levels[0].table().*rows); ++op) {
        alike(what, op, dtype, bytes, [&](const LaneTable& table, void* dst) {
          const LaneTable::Unary body = (table.*rows)[op][type];
          return body != nullptr && (body(dst, a.data(), kLanes), true);
        });
      }
    };
    const auto compare = [&](const char* what, auto LaneTable::* rows) {
      for (size_t op = 0; op < std::size(levels[0].table().*rows); ++op) {
        alike(what, op, dtype, kLanes / 8, [&](const LaneTable& table, void* dst) {
          const LaneTable::CompareLanes body = (table.*rows)[op][type];
          return body != nullptr &&
                 (body(static_cast<uint8_t*>(dst), a.data(), b.data(), 1, kLanes), true);
        });
      }
    };
    two("binary", &LaneTable::binary);
    two("binary of registers", &LaneTable::regBinary);
    one("unary", &LaneTable::unary);
    one("unary of registers", &LaneTable::regUnary);
    compare("comparison", &LaneTable::compare);
    compare("comparison of registers", &LaneTable::regCompare);
  }
  std::printf("%llu functions on %zu instruction sets: %llu faults\n",
              static_cast<unsigned long long>(functions), levels.size(),
              static_cast<unsigned long long>(faults));
  return functions > 0 && faults == 0 ? 0 : 1;
}

}  // namespace

}  // namespace aclsim

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "floats") == 0 && std::atoll(argv[2]) > 0) {
    return aclsim::CheckFloats(static_cast<uint64_t>(std::atoll(argv[2])));
  }
  if (argc == 2 && std::strcmp(argv[1], "copies") == 0) {
    return aclsim::CheckCopies();
  }
  if (argc == 2 && std::strcmp(argv[1], "alike") == 0) {
    return aclsim::CheckAlike();
  }
  std::fprintf(stderr, "usage: lanes_check floats STRIDE | copies | alike\n");
  return 2;
}
