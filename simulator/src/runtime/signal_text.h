// SPDX-License-Identifier: Apache-2.0
// Text building that a signal handler may do: no allocation, no stdio.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aclsim {

class SignalText {
 public:
  SignalText(char* text, size_t size) : text_(text), size_(size) {
    if (size_ > 0) {
      text_[0] = '\0';
    }
  }
  SignalText& Text(const char* more) {
    while (*more != '\0') {
      Put(*more++);
    }
    return *this;
  }
  SignalText& Number(uint64_t value) { return Digits(value, 10); }
  SignalText& Hex(uint64_t value) { return Text("0x").Digits(value, 16); }
  size_t length() const { return length_; }

 private:
  void Put(char c) {
    if (length_ + 1 < size_) {
      text_[length_++] = c;
      text_[length_] = '\0';
    }
  }
  SignalText& Digits(uint64_t value, uint64_t base) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count > 0) {
      Put(digits[--count]);
    }
    return *this;
  }

  char* text_;
  size_t size_;
  size_t length_ = 0;
};

}  // namespace aclsim
