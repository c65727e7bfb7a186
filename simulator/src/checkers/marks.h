// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace aclsim {

// Memories of a core are marked by blocks.
inline constexpr uint64_t kBlockBytes = 32;
inline uint64_t FirstBlock(uint64_t begin) { return begin / kBlockBytes; }
inline uint64_t BlocksEnd(uint64_t end) { return (end + kBlockBytes - 1) / kBlockBytes; }

// A number for each of many places that mostly change in long runs: what covers a whole group of kGroup places is one number.
// kRising: nobody sets a place to less than any place has. What covers many groups is then one number as well.
template <typename T, size_t kGroup, bool kRising = false>
class Marks {
 public:
  Marks(size_t size, T value)
      : alike_((size + kGroup - 1) / kGroup, true),
        most_(alike_.size(), value),
        mostOfMany_(kRising ? alike_.size() / kMany + 1 : 0, value),
        each_(new T[alike_.size() * kGroup]) {}

  void Set(size_t begin, size_t end, T value) {
    if (kRising && begin < end) {
      recent_[++sets_ % kRecent] = {begin, end, value, true};
    }
    SetPlaces(begin, end, value);
  }

  // Ranges from a `first` to an `end`.
  template <typename Ranges>
  void SetAll(const Ranges& ranges, T value) {
    static_assert(kRising);
    Recent recent{SIZE_MAX, 0, value, ranges.size() == 1};
    for (const auto& range : ranges) {
      recent.begin = std::min<size_t>(recent.begin, range.first);
      recent.end = std::max<size_t>(recent.end, range.end);
      SetPlaces(range.first, range.end, value);
    }
    recent_[++sets_ % kRecent] = recent;
  }

  T Max(size_t begin, size_t end) const {
    if (kRising && end - begin > kGroup) {
      // No place has more than what was set last, or else than what was set before that.
      for (size_t back = 0; back < kRecent; ++back) {
        const Recent& recent = recent_[(sets_ - back) % kRecent];
        if (begin < recent.end && recent.begin < end) {
          if (!recent.all) {
            break;
          }
          return recent.value;
        }
      }
    }
    const size_t first = (begin + kGroup - 1) / kGroup;
    const size_t last = end / kGroup;
    if (first > last) {
      return MaxOfPart(last, begin, end, 0);
    }
    T most = kRising ? MostOfGroups(first, last) : MaxOfGroups(first, last);
    most = MaxOfPart(first - 1, begin, first * kGroup, most);
    return MaxOfPart(last, last * kGroup, end, most);
  }

  // Asked where values rise. False when what was set last shows that no place has more than `limit`.
  bool MayExceed(size_t begin, size_t end, T limit) const {
    static_assert(kRising);
    for (size_t back = 0; back < kRecent; ++back) {
      const Recent& recent = recent_[(sets_ - back) % kRecent];
      if (recent.value <= limit) {
        return false;
      }
      if (begin < recent.end && recent.begin < end) {
        return true;
      }
    }
    return true;
  }

  // The places around [begin, end) up to which every group is as fits(alike, most) says, where alike means that each of its
  // places has `most`, and else none has more; no more than `reach` groups on either side. Empty where the groups of
  // [begin, end) are not.
  template <typename Fits>
  std::pair<size_t, size_t> Around(size_t begin, size_t end, size_t reach, const Fits& fits) const {
    const auto is = [&](size_t group) { return fits(alike_[group] != 0, most_[group]); };
    size_t first = begin / kGroup;
    size_t last = (end + kGroup - 1) / kGroup;
    for (size_t group = first; group < last; ++group) {
      if (!is(group)) {
        return {begin, begin};
      }
    }
    const size_t least = first - std::min(first, reach);
    const size_t most = std::min(alike_.size(), last + reach);
    while (first > least && is(first - 1)) {
      --first;
    }
    while (last < most && is(last)) {
      ++last;
    }
    return {first * kGroup, last * kGroup};
  }

  size_t Size() const { return alike_.size() * kGroup; }

  // The places of [begin, end) one by one, by their number, to read until the next call.
  const T* Values(size_t begin, size_t end) {
    for (size_t group = begin / kGroup; group * kGroup < end; ++group) {
      Spread(group);
    }
    return each_.get();
  }
  // Each lets its caller write, too.
  T* Each(size_t begin, size_t end) {
    static_assert(!kRising);
    Values(begin, end);
    if (begin < end) {
      std::fill(most_.begin() + Step(begin / kGroup), most_.begin() + Step((end - 1) / kGroup + 1),
                std::numeric_limits<T>::max());
    }
    return each_.get();
  }

 private:
  static constexpr size_t kMany = 16;  // groups
  static constexpr size_t kRecent = 16;
  struct Recent {
    size_t begin = 0;
    size_t end = 0;
    T value = 0;
    bool all = true;  // of [begin, end), or some of it
  };

  static std::ptrdiff_t Step(size_t at) { return static_cast<std::ptrdiff_t>(at); }

  static T MostOf(const T* begin, const T* end) {
    T most = 0;
    for (; begin < end; ++begin) {
      most = std::max(most, *begin);
    }
    return most;
  }

  // A bound that no place exceeds, where values rise, is what one of them has.
  T MostOfGroups(size_t first, size_t last) const {
    const T* const groups = most_.data();
    const size_t firstMany = (first + kMany - 1) / kMany;
    const size_t lastMany = last / kMany;
    if (firstMany >= lastMany) {
      return MostOf(groups + first, groups + last);
    }
    return std::max({MostOf(groups + first, groups + firstMany * kMany),
                     MostOf(mostOfMany_.data() + firstMany, mostOfMany_.data() + lastMany),
                     MostOf(groups + lastMany * kMany, groups + last)});
  }

  T MaxOfGroups(size_t first, size_t last) const {
    const T bound = MostOf(most_.data() + first, most_.data() + last);
    T most = 0;
    for (size_t group = first; group < last && most < bound; ++group) {
      most = MaxOfPart(group, group * kGroup, (group + 1) * kGroup, most);
    }
    return most;
  }

  // The result is no less than `most`. [begin, end) lies in the group, or is empty.
  T MaxOfPart(size_t group, size_t begin, size_t end, T most) const {
    if (begin >= end || most_[group] <= most) {
      return most;
    }
    if (alike_[group]) {
      return most_[group];
    }
    const T found = MostOf(each_.get() + begin, each_.get() + end);
    if constexpr (!kRising) {
      if (found == 0 && end - begin == kGroup) {  // set in parts: the next look need not read it
        alike_[group] = true;
        most_[group] = 0;
      }
    }
    return std::max(most, found);
  }

  void SetPlaces(size_t begin, size_t end, T value) {
    const size_t group = begin / kGroup;
    if (begin % kGroup == 0 && end == begin + kGroup) {  // as most are
      if (kRising) {
        mostOfMany_[group / kMany] = value;
      }
      alike_[group] = true;
      most_[group] = value;
      return;
    }
    if (kRising && begin < end) {
      std::fill(mostOfMany_.begin() + Step(group / kMany),
                mostOfMany_.begin() + Step((end - 1) / kGroup / kMany + 1), value);
    }
    const size_t first = (begin + kGroup - 1) / kGroup;  // the first whole group
    const size_t last = end / kGroup;                    // and the one behind them
    if (first > last) {
      SetPart(last, begin, end, value);
      return;
    }
    SetPart(first - 1, begin, first * kGroup, value);
    std::fill(alike_.begin() + Step(first), alike_.begin() + Step(last), uint8_t{true});
    std::fill(most_.begin() + Step(first), most_.begin() + Step(last), value);
    SetPart(last, last * kGroup, end, value);
  }

  // [begin, end) is a part of the group, or empty.
  void SetPart(size_t group, size_t begin, size_t end, T value) {
    if (begin >= end || (alike_[group] && most_[group] == value)) {
      return;
    }
    Spread(group);
    std::fill(each_.get() + begin, each_.get() + end, value);
    most_[group] = std::max(most_[group], value);
  }

  void Spread(size_t group) {
    if (alike_[group]) {
      alike_[group] = false;
      std::fill_n(each_.get() + group * kGroup, kGroup, most_[group]);
    }
  }

  // A look notes what it finds, which changes no place.
  mutable std::vector<uint8_t> alike_;  // by group: all places have most_, and each_ says nothing
  mutable std::vector<T> most_;         // no place of the group has more
  std::vector<T> mostOfMany_;           // where values rise: none of kMany groups
  std::unique_ptr<T[]> each_;
  std::array<Recent, kRecent> recent_{};  // where values rise: what was set last
  size_t sets_ = kRecent;
};

}  // namespace aclsim
