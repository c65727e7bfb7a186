// SPDX-License-Identifier: Apache-2.0
// The L2 cache as the model sees it: least recently used lines of 512 bytes, in sectors that are fetched and written one by one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace aclsim {

inline constexpr uint64_t kL2Line = 512;
inline constexpr uint64_t kL2Sector = 128;

class L2Cache {
 public:
  explicit L2Cache(uint64_t bytes) : most_(std::max<uint64_t>(bytes / kL2Line, 1)) {}

  struct Traffic {
    uint64_t missed = 0;   // bytes that were not there
    uint64_t evicted = 0;  // written bytes that had to leave
  };
  // [begin, end) of GM, line by line. keep: it stays in the cache.
  Traffic Touch(uint64_t begin, uint64_t end, bool write, bool keep) {
    Traffic traffic;
    for (uint64_t line = begin / kL2Line; line * kL2Line < end;) {
      Page& page = PageOf(line / kPage);
      const uint64_t stop = std::min((line / kPage + 1) * kPage, (end + kL2Line - 1) / kL2Line);
      // All at once, because nothing else tells the host that they are next.
      constexpr uint64_t kTogether = 64 / sizeof(uint64_t);
      for (uint64_t ahead = line; ahead < stop; ahead += kTogether) {
        __builtin_prefetch(&page[ahead % kPage], 1);
      }
      for (; line < stop; ++line) {
        const uint64_t start = line * kL2Line;
        const uint64_t from = std::max(begin, start) - start;
        const uint64_t to = std::min(end, start + kL2Line) - start;
        const uint64_t wanted =
            (1u << ((to + kL2Sector - 1) / kL2Sector)) - (1u << (from / kL2Sector));
        uint64_t& state = page[line % kPage];
        const uint64_t present = state & kSectors;
        traffic.missed += Bytes(wanted & ~present);
        if (present == 0) {
          if (!keep) {
            continue;
          }
          if (lines_ == most_) {
            traffic.evicted += EvictOldest();
          }
          ++lines_;
        }
        const uint64_t written = (state & kWritten) | (write ? wanted << kSectorBits : 0);
        state = Stamp(line) << kStampShift | written | present | wanted;
      }
    }
    return traffic;
  }

 private:
  // The state of a line: when it was touched last, and a bit per sector that was written or is there. 0 is an absent line.
  static constexpr int kSectorBits = 4, kStampShift = 2 * kSectorBits;
  static constexpr uint64_t kSectors = (1u << kSectorBits) - 1, kWritten = kSectors << kSectorBits;
  static_assert(kL2Line / kL2Sector == kSectorBits);
  static uint64_t Bytes(uint64_t sectors) {
    // A table, because hosts of the first x86-64 have no instruction for it.
    constexpr uint8_t kCount[] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return kCount[sectors] * kL2Sector;
  }

  // States of lines that lie together: copies touch them in turn.
  static constexpr uint64_t kPage = 4096;
  using Page = std::array<uint64_t, kPage>;
  Page& PageOf(uint64_t number) {
    if (number != latest_ || page_ == nullptr) {
      std::unique_ptr<Page>& page = pages_[number];
      if (page == nullptr) {
        page = std::make_unique<Page>();
      }
      latest_ = number;
      page_ = page.get();
    }
    return *page_;
  }
  uint64_t& StateOf(uint64_t line) { return PageOf(line / kPage)[line % kPage]; }

  // Lines that were touched one after the other: `first + i` at time `stamp + i`. A line that was touched again since has
  // another stamp, and what this says of it is of no account.
  struct Run {
    uint64_t first = 0;
    uint64_t stamp = 0;
    uint64_t lines = 0;
  };
  uint64_t Stamp(uint64_t line) {
    if (line == next_) {
      ++runs_.back().lines;
      ++next_;
      return clock_++;
    }
    if (line + 1 == next_) {
      return clock_ - 1;  // it is the latest already
    }
    if (runs_.size() - oldest_ > 2 * lines_ + kLeastRuns) {
      Forget();
    }
    runs_.push_back({line, clock_, 1});
    next_ = line + 1;
    return clock_++;
  }
  bool Holds(uint64_t line, uint64_t stamp) {
    const uint64_t state = StateOf(line);
    return (state & kSectors) != 0 && state >> kStampShift == stamp;
  }
  uint64_t EvictOldest() {
    for (;; ++oldest_) {
      for (Run& run = runs_[oldest_]; run.lines > 0;) {
        const Run whole = run;
        run = {whole.first + 1, whole.stamp + 1, whole.lines - 1};
        if (Holds(whole.first, whole.stamp)) {
          uint64_t& state = StateOf(whole.first);
          const uint64_t written = (state & kWritten) >> kSectorBits;
          state = 0;
          --lines_;
          return Bytes(written);
        }
      }
    }
  }
  // Drops what is of no account, so that memory does not grow with the number of accesses.
  void Forget() {
    std::vector<Run> kept;
    for (; oldest_ < runs_.size(); ++oldest_) {
      const Run& run = runs_[oldest_];
      for (uint64_t i = 0; i < run.lines; ++i) {
        if (!Holds(run.first + i, run.stamp + i)) {
          continue;
        }
        if (!kept.empty() && kept.back().first + kept.back().lines == run.first + i &&
            kept.back().stamp + kept.back().lines == run.stamp + i) {
          ++kept.back().lines;
        } else {
          kept.push_back({run.first + i, run.stamp + i, 1});
        }
      }
    }
    runs_ = std::move(kept);
    oldest_ = 0;
  }

  static constexpr size_t kLeastRuns = 4096;

  const uint64_t most_;
  uint64_t lines_ = 0;  // in the cache
  uint64_t clock_ = 0;
  std::vector<Run> runs_;
  uint64_t next_ = 0;  // behind the latest line; 0: there is none
  size_t oldest_ = 0;  // runs before are of no account
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t latest_ = 0;
  Page* page_ = nullptr;  // number latest_
};

}  // namespace aclsim
