// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace aclsim {

// A number for each of many places that mostly change in long runs: what covers a whole group of kGroup places is one number.
template <typename T, size_t kGroup>
class Marks {
 public:
  Marks(size_t size, T value)
      : alike_((size + kGroup - 1) / kGroup, true),
        value_(alike_.size(), value),
        each_(new T[alike_.size() * kGroup]) {}

  void Set(size_t begin, size_t end, T value) {
    for (size_t at = begin; at < end;) {
      const size_t group = at / kGroup;
      const size_t until = std::min(end, (group + 1) * kGroup);
      if (until - at == kGroup) {
        alike_[group] = true;
        value_[group] = value;
      } else if (!alike_[group] || value_[group] != value) {
        Spread(group);
        std::fill(each_.get() + at, each_.get() + until, value);
      }
      at = until;
    }
  }

  T Max(size_t begin, size_t end) const {
    T most = 0;
    for (size_t at = begin; at < end;) {
      const size_t group = at / kGroup;
      const size_t until = std::min(end, (group + 1) * kGroup);
      if (alike_[group]) {
        most = std::max(most, value_[group]);
      } else {
        for (size_t i = at; i < until; ++i) {
          most = std::max(most, each_[i]);
        }
      }
      at = until;
    }
    return most;
  }

  // All places one by one, to read and to write until the next call.
  T* Each() {
    for (size_t group = 0; group < alike_.size(); ++group) {
      Spread(group);
    }
    return each_.get();
  }

 private:
  void Spread(size_t group) {
    if (alike_[group]) {
      alike_[group] = false;
      std::fill_n(each_.get() + group * kGroup, kGroup, value_[group]);
    }
  }

  std::vector<uint8_t> alike_;  // by group: all places have value_, and each_ says nothing
  std::vector<T> value_;
  std::unique_ptr<T[]> each_;
};

}  // namespace aclsim
