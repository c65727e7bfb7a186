// SPDX-License-Identifier: Apache-2.0
// Parts of the timing model on their own: prints what test_timing_costs.py wants to know.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <random>

#include "timing/costs.h"
#include "timing/l2.h"

namespace {

// The cache by the book: a list of lines, the latest first.
class PlainCache {
 public:
  explicit PlainCache(size_t lines) : most_(lines) {}
  aclsim::L2Cache::Traffic Touch(uint64_t line, uint64_t begin, uint64_t end, bool write,
                                 bool keep) {
    aclsim::L2Cache::Traffic traffic;
    auto found = lines_.begin();
    while (found != lines_.end() && found->line != line) {
      ++found;
    }
    Line entry{line, {}, {}};
    if (found != lines_.end()) {
      entry = *found;
      lines_.erase(found);
    }
    const bool stays = keep || entry.Any();
    if (!entry.Any() && keep && lines_.size() == most_) {
      for (const bool written : lines_.back().written) {
        traffic.evicted += written ? aclsim::kL2Sector : 0;
      }
      lines_.pop_back();
    }
    for (uint64_t at = begin / aclsim::kL2Sector; at * aclsim::kL2Sector < end; ++at) {
      traffic.missed += entry.present[at] ? 0 : aclsim::kL2Sector;
      entry.present[at] = true;
      entry.written[at] = entry.written[at] || write;
    }
    if (stays) {
      lines_.push_front(entry);
    }
    return traffic;
  }

 private:
  struct Line {
    uint64_t line;
    bool present[4];
    bool written[4];
    bool Any() const { return present[0] || present[1] || present[2] || present[3]; }
  };
  size_t most_;
  std::list<Line> lines_;
};

void CheckCache() {
  for (const size_t lines : {1u, 7u, 64u, 3000u}) {
    aclsim::L2Cache cache(lines * aclsim::kL2Line);
    PlainCache plain(lines);
    std::mt19937 random(static_cast<unsigned>(lines));
    uint64_t at = 0;
    for (int i = 0; i < 20000; ++i) {
      at = random() % 8 == 0 ? random() % (lines * 3) * 4096 : at + 1;
      const uint64_t begin = random() % 512, end = begin + 1 + random() % (512 - begin);
      const bool write = random() % 3 == 0, keep = random() % 5 != 0;
      const auto got = cache.Touch(at % (lines * 2 + 3), begin, end, write, keep);
      const auto want = plain.Touch(at % (lines * 2 + 3), begin, end, write, keep);
      if (got.missed != want.missed || got.evicted != want.evicted) {
        std::printf(
            "cache of %zu lines, access %d: missed %llu, want %llu; evicted %llu, want %llu\n",
            lines, i, static_cast<unsigned long long>(got.missed),
            static_cast<unsigned long long>(want.missed),
            static_cast<unsigned long long>(got.evicted),
            static_cast<unsigned long long>(want.evicted));
        std::exit(1);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CheckCache();
  aclsim::Soc soc;
  for (const uint32_t arch : {2201u, 3510u, 1001u}) {
    soc.npuArch = arch;
    for (int i = 1; i < argc; ++i) {
      const aclsim::FunctionCost cost = aclsim::CostOf(soc, argv[i]);
      std::printf("%u %s %s %s\n", arch, argv[i], cost.known ? "known" : "unknown",
                  aclsim::EvidenceName(cost.evidence));
    }
  }
  return 0;
}
