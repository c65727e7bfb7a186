// SPDX-License-Identifier: Apache-2.0
// op::FVector: a vector whose data() is a plain array for every element type, bool included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace op {
namespace internal {

template <typename T, size_t N>
class SmallVector {
  // std::vector<bool> has no array to point to.
  using Cell = std::conditional_t<std::is_same<T, bool>::value, uint8_t, T>;

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;
  template <typename It>
  using IfIterator = std::enable_if_t<std::is_base_of<
      std::input_iterator_tag, typename std::iterator_traits<It>::iterator_category>::value>;

  SmallVector() = default;
  explicit SmallVector(size_t count) : cells_(count) {}
  SmallVector(size_t count, const T& value) : cells_(count, value) {}
  SmallVector(std::initializer_list<T> values) : cells_(values.begin(), values.end()) {}
  template <typename It, typename = IfIterator<It>>
  SmallVector(It first, It last) : cells_(first, last) {}
  SmallVector& operator=(std::initializer_list<T> values) {
    cells_.assign(values.begin(), values.end());
    return *this;
  }

  T* data() { return reinterpret_cast<T*>(cells_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(cells_.data()); }
  size_t size() const { return cells_.size(); }
  bool empty() const { return cells_.empty(); }
  size_t capacity() const { return cells_.capacity() < N ? N : cells_.capacity(); }
  void reserve(size_t count) { cells_.reserve(count); }
  void resize(size_t count) { cells_.resize(count); }
  void resize(size_t count, const T& value) { cells_.resize(count, value); }
  void clear() { cells_.clear(); }
  void assign(size_t count, const T& value) { cells_.assign(count, value); }
  template <typename It, typename = IfIterator<It>>
  void assign(It first, It last) {
    cells_.assign(first, last);
  }
  void assign(std::initializer_list<T> values) { cells_.assign(values.begin(), values.end()); }
  void swap(SmallVector& other) { cells_.swap(other.cells_); }

  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& at(size_t i) { return reinterpret_cast<T&>(cells_.at(i)); }
  const T& at(size_t i) const { return reinterpret_cast<const T&>(cells_.at(i)); }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }
  T& back() { return data()[size() - 1]; }
  const T& back() const { return data()[size() - 1]; }

  iterator begin() { return data(); }
  iterator end() { return data() + size(); }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size(); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  void push_back(const T& value) { cells_.push_back(value); }
  void push_back(T&& value) { cells_.push_back(std::move(value)); }
  template <typename... Args>
  void emplace_back(Args&&... args) {
    cells_.emplace_back(std::forward<Args>(args)...);
  }
  void pop_back() { cells_.pop_back(); }
  iterator insert(const_iterator position, const T& value) {
    const size_t index = static_cast<size_t>(position - begin());
    cells_.insert(cells_.begin() + static_cast<difference_type>(index), value);
    return begin() + index;
  }
  template <typename It, typename = IfIterator<It>>
  iterator insert(const_iterator position, It first, It last) {
    const size_t index = static_cast<size_t>(position - begin());
    cells_.insert(cells_.begin() + static_cast<difference_type>(index), first, last);
    return begin() + index;
  }
  iterator erase(const_iterator position) { return erase(position, position + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const difference_type from = first - begin();
    cells_.erase(cells_.begin() + from, cells_.begin() + (last - begin()));
    return begin() + from;
  }

  bool operator==(const SmallVector& other) const { return cells_ == other.cells_; }
  bool operator!=(const SmallVector& other) const { return !(*this == other); }
  bool operator<(const SmallVector& other) const { return cells_ < other.cells_; }

 private:
  std::vector<Cell> cells_;
};

}  // namespace internal

template <typename T, size_t N = 8>
using FVector = internal::SmallVector<T, N>;

}  // namespace op
