// SPDX-License-Identifier: Apache-2.0
// A guess at what a core copies from GM next. Tiles of large tensors come from memory, which would stand idle while the host
// computes: long computations, and the checks of an instruction, ask for the next tile a few lines at a time. It changes nothing
// but the host's caches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace aclsim {

class ReadAhead {
 public:
  // A copy reads [from, from + bytes) of a tensor that ends at `end`.
  void Copied(const uint8_t* from, uint64_t bytes, const uint8_t* end) {
    if (bytes < kLeastCopy) {
      return;
    }
    const uint8_t* const next = from + bytes;
    for (Run& run : runs_) {
      if (run.next == from) {
        // It goes on where it stopped: the next copy is likely to do so too.
        const auto left = static_cast<uint64_t>(end - next);
        run = {next, next, next + std::min(left, bytes)};
        return;
      }
    }
    runs_[oldest_] = {next, next, next};
    oldest_ = (oldest_ + 1) % runs_.size();
  }

  // Does part(at, n) for all of [0, bytes), and meanwhile asks for `lines` lines of the host's caches per line done.
  template <typename Part>
  void During(size_t bytes, size_t lines, const Part& part) {
    size_t at = 0;
    while (lines > 0 && bytes - at > kPart && Ask(lines * kPart / kLine)) {
      part(at, kPart);
      at += kPart;
    }
    part(at, bytes - at);
  }

  // Asks for that many lines of the host's caches. False when there is nothing to ask for.
  bool Ask(size_t lines) {
    for (Run& run : runs_) {
      if (run.asked < run.last) {
        for (; lines > 0 && run.asked < run.last; --lines, run.asked += kLine) {
          __builtin_prefetch(run.asked, 0, 2);
        }
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr size_t kLine = 64;
  static constexpr size_t kPart = 512;  // more at once, and the processor waits for memory again
  static constexpr uint64_t kLeastCopy = 4096;

  // Copies of one tensor, each behind the last.
  struct Run {
    const uint8_t* next = nullptr;   // where the next copy would start
    const uint8_t* asked = nullptr;  // up to here memory has been asked
    const uint8_t* last = nullptr;   // and up to here it may be
  };

  std::array<Run, 4> runs_;
  size_t oldest_ = 0;
};

}  // namespace aclsim
