// SPDX-License-Identifier: Apache-2.0
// The loops of timing/shares.h against their description, on every instruction set that this host has: the same bits as copies
// one by one. Prints a line per fault, then what was looked at.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "timing/shares.h"

namespace aclsim {

namespace baseline {
const SharesTable& TableOfShares();
}
#ifdef __x86_64__
// Instrumented builds lack these.
namespace v3 {
[[gnu::weak]] const SharesTable& TableOfShares();
}
namespace v4 {
[[gnu::weak]] const SharesTable& TableOfShares();
}
#endif

namespace {

struct Copy {
  double left, alone, l2, memory, rate;
};

void Limit(std::vector<Copy>& copies, double Copy::* bytes, double capacity) {
  std::vector<Copy*> wanting;
  double wanted = 0;
  for (Copy& copy : copies) {
    if (copy.*bytes > 0) {
      wanting.push_back(&copy);
      wanted += copy.*bytes * copy.rate;
    }
  }
  if (wanted <= capacity) {
    return;
  }
  while (!wanting.empty()) {
    const double share = capacity / static_cast<double>(wanting.size());
    const auto content = std::partition(wanting.begin(), wanting.end(), [&](Copy* copy) {
      return copy->*bytes * copy->rate > share;
    });
    if (content == wanting.end()) {
      for (Copy* copy : wanting) {
        copy->rate = share / (copy->*bytes);
      }
      return;
    }
    for (auto it = content; it != wanting.end(); ++it) {
      capacity -= (*it)->*bytes * (*it)->rate;
    }
    wanting.erase(content, wanting.end());
  }
}

// As the arrays that the loops work on.
class Arrays {
 public:
  explicit Arrays(const std::vector<Copy>& copies) {
    const size_t stride = (copies.size() / kSharesWidth + 1) * kSharesWidth;
    values_.resize(9 * stride);
    double** const rows[] = {&moving.left,     &moving.rate,       &moving.cycles,
                             &moving.fullRate, &moving.fullCycles, &moving.l2,
                             &moving.memory,   &moving.demand,     &moving.ordered};
    for (size_t i = 0; i < std::size(rows); ++i) {
      *rows[i] = &values_[i * stride];
    }
    std::fill_n(moving.left, stride, 1);
    std::fill_n(moving.fullCycles, stride, 1e300);
    moving.count = copies.size();
    for (size_t i = 0; i < copies.size(); ++i) {
      moving.left[i] = copies[i].left;
      moving.fullRate[i] = 1 / copies[i].alone;
      moving.fullCycles[i] = copies[i].alone;
      moving.l2[i] = copies[i].l2;
      moving.memory[i] = copies[i].memory;
    }
  }
  Shares moving;

 private:
  std::vector<double> values_;
};

int faults = 0;

void Expect(double got, double want, const char* level, int round, const char* what) {
  if (std::memcmp(&got, &want, sizeof(got)) != 0 && ++faults < 20) {
    std::printf("%s, round %d: %s %a, want %a\n", level, round, what, got, want);
  }
}

void Check(const char* level, const SharesTable& table) {
  std::mt19937 random(7);
  const auto pick = [&](double from, double to) {
    return from + (to - from) * static_cast<double>(random() % 100003) / 100003;
  };
  for (int round = 0; round < 4000; ++round) {
    std::vector<Copy> copies(random() % 100 + 1);
    // Copies of a kernel are alike: a few sizes, now and then all different.
    const size_t kinds = random() % 3 == 0 ? copies.size() : random() % 4 + 1;
    for (size_t i = 0; i < copies.size(); ++i) {
      copies[i] = i < kinds ? Copy{1, pick(100, 900), pick(100, 40000), pick(10, 40000), 0}
                            : copies[random() % kinds];
      copies[i].left = random() % 4 == 0 ? 1 : pick(0, 1);
      copies[i].memory = random() % 8 == 0 ? 0 : copies[i].memory;
    }
    double all = 0;
    for (const Copy& copy : copies) {
      all += copy.memory / copy.alone;
    }
    const double memory = all * pick(0.1, 1.2) + 1, l2 = 3 * memory, now = pick(0, 1e7);
    const Arrays arrays(copies);
    table.share(arrays.moving, l2, memory);
    for (Copy& copy : copies) {
      copy.rate = 1 / copy.alone;
    }
    Limit(copies, &Copy::l2, l2);
    Limit(copies, &Copy::memory, memory);
    double ends = 1e300;
    size_t first = 0, found = copies.size();
    for (size_t i = 0; i < copies.size(); ++i) {
      Expect(arrays.moving.rate[i], copies[i].rate, level, round, "rate");
      const double end = now + copies[i].left / copies[i].rate;
      first = end < ends ? i : first;
      ends = std::min(ends, end);
    }
    Expect(table.firstEnd(arrays.moving, now, &found), ends, level, round, "end");
    Expect(static_cast<double>(found), static_cast<double>(first), level, round, "the first");
    table.pass(arrays.moving, ends - now);
    for (size_t i = 0; i < copies.size(); ++i) {
      const double left = std::max(0.0, copies[i].left - (ends - now) * copies[i].rate);
      Expect(arrays.moving.left[i], left, level, round, "left");
    }
  }
}

}  // namespace

}  // namespace aclsim

int main() {
  using aclsim::SharesLoops;
  aclsim::Check("baseline", aclsim::baseline::TableOfShares());
#ifdef __x86_64__
  if (&SharesLoops() != &aclsim::baseline::TableOfShares()) {
    aclsim::Check("v3", aclsim::v3::TableOfShares());
  }
  if (aclsim::v4::TableOfShares != nullptr && &SharesLoops() == &aclsim::v4::TableOfShares()) {
    aclsim::Check("v4", aclsim::v4::TableOfShares());
  }
#endif
  std::printf("4000 sets of copies: %d faults\n", aclsim::faults);
  return aclsim::faults == 0 ? 0 : 1;
}
