// SPDX-License-Identifier: Apache-2.0
#include "engine/strips.h"

#include <algorithm>

namespace aclsim {

namespace {

constexpr size_t kMostWaiting = 16;

}  // namespace

// A strip of `later` needs no more of the others than the same strip: operands that share bytes share all of them.
bool Strips::Apart(const Instruction& later) const {
  const auto clear = [this](const uint8_t* a, const uint8_t* b) {
    return a == nullptr || b == nullptr || a == b || a + bytes_ <= b || b + bytes_ <= a;
  };
  return std::all_of(waiting_.begin(), waiting_.end(), [&](const Instruction& earlier) {
    const auto clearOf = [&](const uint8_t* written, const Instruction& other) {
      return std::all_of(other.operands.begin(), other.operands.end(),
                         [&](const uint8_t* operand) { return clear(written, operand); });
    };
    return clearOf(later.operands[0], earlier) && clearOf(earlier.operands[0], later);
  });
}

void Strips::Add(const LaneCall& call, uint8_t* dst, uint8_t* a, uint8_t* b, size_t width,
                 size_t bytes) {
  const Instruction instruction = {call, {dst, a, b}};
  if (width != width_ || bytes != bytes_ || waiting_.size() == kMostWaiting ||
      !Apart(instruction)) {
    Run();
    width_ = width;
    bytes_ = bytes;
  }
  waiting_.push_back(instruction);
}

void Strips::RunAll() {
  for (size_t at = 0; at < bytes_; at += kStripBytes) {
    const size_t n = std::min(kStripBytes, bytes_ - at) / width_;
    for (const Instruction& one : waiting_) {
      const auto& [dst, a, b] = one.operands;
      one.call.Run(ahead_, dst + at, a + at, b != nullptr ? b + at : nullptr, width_, n);
    }
  }
  waiting_.clear();
}

}  // namespace aclsim
