// SPDX-License-Identifier: Apache-2.0
// Parts of the timing model on their own: prints what test_timing_costs.py wants to know.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <random>

#include "soc/overlay.h"
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
  constexpr uint64_t kLine = aclsim::kL2Line;
  for (const size_t lines : {1u, 7u, 64u, 3000u}) {
    aclsim::L2Cache cache(lines * kLine);
    PlainCache plain(lines);
    std::mt19937 random(static_cast<unsigned>(lines));
    uint64_t at = 0;
    for (int i = 0; i < 20000; ++i) {
      // Parts of lines, of one place or another; now and then many lines, which may end in another page of states. In turn
      // with lines that all have room, which leaves much that is of no account.
      at = random() % 8 == 0 ? random() % (lines * 3) * 4096 : at + 1;
      const bool room = i / 5000 % 2 == 1;
      const uint64_t first = room ? random() % (lines / 2 + 1)
                                  : at % (lines * 2 + 3) + (random() % 16 == 0 ? 4090 : 0);
      const uint64_t begin = first * kLine + random() % kLine;
      const uint64_t bytes = random() % 64 == 0 ? random() % (20 * kLine) : random() % kLine;
      const uint64_t end = begin + 1 + bytes;
      const bool write = random() % 3 == 0, keep = random() % 5 != 0;
      const auto got = cache.Touch(begin, end, write, keep);
      aclsim::L2Cache::Traffic want;
      for (uint64_t line = begin / kLine; line * kLine < end; ++line) {
        const uint64_t from = std::max(begin, line * kLine) - line * kLine;
        const uint64_t to = std::min(end, (line + 1) * kLine) - line * kLine;
        const auto one = plain.Touch(line, from, to, write, keep);
        want.missed += one.missed;
        want.evicted += one.evicted;
      }
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

// Nothing but the table of costs is looked at.
namespace aclsim {
const Overlay& BoardOverlay() {
  static const Overlay none;
  return none;
}
const std::vector<Soc>& AllSocs() {
  static const std::vector<Soc> none;
  return none;
}
}  // namespace aclsim

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
