// SPDX-License-Identifier: Apache-2.0
// The tables of device/lanes.h against their description, on every instruction set that this host has:
//   lanes_check floats STRIDE   Exp and Ln of every STRIDE-th bit pattern of float: the correctly rounded value, everywhere
//   lanes_check copies          large copies at every alignment: the bytes that were asked for, and no others
// STRIDE 1 takes all 2^32 patterns, on the best instruction set alone: some minutes.
// Prints a line per fault, then what was looked at.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "device/lanes.h"

namespace aclsim {

namespace baseline {
const LaneTable& Table();
}
#ifdef __x86_64__
namespace v3 {
const LaneTable& Table();
}
namespace v4 {
const LaneTable& Table();
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
  if (&Lanes() != &baseline::Table()) {
    levels.push_back({"v3", v3::Table});
  }
  if (&Lanes() == &v4::Table()) {
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

}  // namespace

}  // namespace aclsim

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "floats") == 0 && std::atoll(argv[2]) > 0) {
    return aclsim::CheckFloats(static_cast<uint64_t>(std::atoll(argv[2])));
  }
  if (argc == 2 && std::strcmp(argv[1], "copies") == 0) {
    return aclsim::CheckCopies();
  }
  std::fprintf(stderr, "usage: lanes_check floats STRIDE | copies\n");
  return 2;
}
