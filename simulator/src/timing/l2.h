// SPDX-License-Identifier: Apache-2.0
// The L2 cache as the model sees it: least recently used lines of 512 bytes, in sectors that are fetched and written one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace aclsim {

inline constexpr uint64_t kL2Line = 512;
inline constexpr uint64_t kL2Sector = 128;

class L2Cache {
 public:
  // expected: bytes that will be touched at most, so that nothing has to move when they are.
  explicit L2Cache(uint64_t bytes, uint64_t expected = 0)
      : most_(std::max<uint64_t>(bytes / kL2Line, 1)) {
    const size_t lines = std::min(most_, expected / kL2Line);
    entries_.reserve(lines);
    table_.assign(std::max(kLeastSlots, std::bit_ceil(2 * lines)), Slot{});
  }

  struct Traffic {
    uint64_t missed = 0;   // bytes that were not there
    uint64_t evicted = 0;  // written bytes that had to leave
  };
  // The part of `line` in [begin, end), in bytes of the line. keep: it stays in the cache.
  Traffic Touch(uint64_t line, uint64_t begin, uint64_t end, bool write, bool keep) {
    const auto wanted = static_cast<uint8_t>((1u << ((end + kL2Sector - 1) / kL2Sector)) -
                                             (1u << (begin / kL2Sector)));
    Traffic traffic;
    const size_t slot = SlotOf(line);
    uint32_t at = table_[slot].at;
    if (at != kNone) {
      Unlink(at);
    } else if (!keep) {
      traffic.missed = Bytes(wanted);
      return traffic;
    } else {
      at = NewEntry(line, slot, &traffic);
    }
    Entry& entry = entries_[at];
    traffic.missed = Bytes(static_cast<uint8_t>(wanted & ~entry.present));
    entry.present |= wanted;
    entry.written |= write ? wanted : 0;
    LinkFirst(at);
    return traffic;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Entry {
    uint64_t line = 0;
    uint32_t before = kNone, after = kNone;
    uint8_t present = 0, written = 0;  // bit per sector
  };
  static uint64_t Bytes(uint8_t sectors) {
    return static_cast<uint64_t>(std::popcount(sectors)) * kL2Sector;
  }
  // slot: of the line, as long as no other one moves.
  uint32_t NewEntry(uint64_t line, size_t slot, Traffic* traffic) {
    uint32_t at = 0;
    if (entries_.size() < most_) {
      at = static_cast<uint32_t>(entries_.size());
      entries_.emplace_back();
      if (2 * entries_.size() > table_.size()) {
        Grow();
        slot = SlotOf(line);
      }
    } else {
      at = last_;
      traffic->evicted = Bytes(entries_[at].written);
      Forget(entries_[at].line);
      Unlink(at);
      entries_[at] = {};
      slot = SlotOf(line);
    }
    entries_[at].line = line;
    table_[slot] = {at, TagOf(line)};
    return at;
  }

  // A hash table with open addressing: runs of lines lie side by side, as they are asked for.
  static constexpr uint64_t kRun = 16;
  static constexpr size_t kLeastSlots = 1024;
  size_t HomeOf(uint64_t line) const {
    const uint64_t mixed = line / kRun * 0x9E3779B97F4A7C15ull;
    return ((mixed >> 32) * kRun + line % kRun) & (table_.size() - 1);
  }
  // Tells most lines apart without a look at their entries, which lie anywhere in memory.
  struct Slot {
    uint32_t at = kNone;
    uint32_t tag = 0;
  };
  static uint32_t TagOf(uint64_t line) { return static_cast<uint32_t>(line); }
  // Where the line is, or would go.
  size_t SlotOf(uint64_t line) const {
    size_t slot = HomeOf(line);
    while (table_[slot].at != kNone &&
           (table_[slot].tag != TagOf(line) || entries_[table_[slot].at].line != line)) {
      slot = (slot + 1) & (table_.size() - 1);
    }
    return slot;
  }
  // Moves up what had to go past the line's place.
  void Forget(uint64_t line) {
    const size_t mask = table_.size() - 1;
    size_t hole = SlotOf(line);
    for (size_t slot = (hole + 1) & mask; table_[slot].at != kNone; slot = (slot + 1) & mask) {
      const size_t home = HomeOf(entries_[table_[slot].at].line);
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        table_[hole] = table_[slot];
        hole = slot;
      }
    }
    table_[hole] = {};
  }
  // The newest entry is not in the table yet.
  void Grow() {
    table_.assign(2 * table_.size(), {});
    for (uint32_t at = 0; at + 1 < entries_.size(); ++at) {
      table_[SlotOf(entries_[at].line)] = {at, TagOf(entries_[at].line)};
    }
  }
  void Unlink(uint32_t at) {
    const Entry& entry = entries_[at];
    (entry.before != kNone ? entries_[entry.before].after : first_) = entry.after;
    (entry.after != kNone ? entries_[entry.after].before : last_) = entry.before;
  }
  void LinkFirst(uint32_t at) {
    Entry& entry = entries_[at];
    entry.before = kNone;
    entry.after = first_;
    (first_ != kNone ? entries_[first_].before : last_) = at;
    first_ = at;
  }

  const uint64_t most_;
  std::vector<Entry> entries_;
  std::vector<Slot> table_;
  uint32_t first_ = kNone, last_ = kNone;
};

}  // namespace aclsim
