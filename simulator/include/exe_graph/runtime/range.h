// SPDX-License-Identifier: Apache-2.0
// gert::Range: the least and the greatest of something, by pointer.
#pragma once

namespace gert {

template <typename T>
class Range {
 public:
  Range() = default;
  Range(T* min, T* max) : min_(min), max_(max) {}
  explicit Range(T* same) : Range(same, same) {}

  bool operator==(const Range& other) const { return min_ == other.min_ && max_ == other.max_; }
  void SetMin(T* min) { min_ = min; }
  void SetMax(T* max) { max_ = max; }
  const T* GetMin() const { return min_; }
  T* GetMin() { return min_; }
  const T* GetMax() const { return max_; }
  T* GetMax() { return max_; }

 private:
  T* min_ = nullptr;
  T* max_ = nullptr;
};

}  // namespace gert
