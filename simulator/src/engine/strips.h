// SPDX-License-Identifier: Apache-2.0
// Element-wise instructions on long contiguous operands, one after another: run together, a strip at a time that the host's
// first cache holds, instead of each over the whole of UB. Results are those of the program's order.
#pragma once

#include <array>
#include <vector>

#include "ascendc/device_abi.h"
#include "host/read_ahead.h"

namespace aclsim {

// The lanes of an element-wise instruction; one of the three is set.
struct LaneCall {
  // The types of device/lanes.h.
  void (*binary)(void* dst, const void* a, const void* b, size_t n) = nullptr;
  void (*unary)(void* dst, const void* a, size_t n) = nullptr;
  void (*withScalar)(void* dst, const void* a, ScalarValue s, size_t n) = nullptr;
  ScalarValue scalar{};
  size_t readAhead =
      0;  // lines of GM that may be asked for while a line is computed: what hides behind the arithmetic

  // On n elements of `width` bytes; b may be null.
  void Run(ReadAhead& ahead, uint8_t* dst, const uint8_t* a, const uint8_t* b, size_t width,
           size_t n) const {
    ahead.During(n * width, readAhead, [&](size_t at, size_t bytes) {
      if (binary != nullptr) {
        binary(dst + at, a + at, b + at, bytes / width);
      } else if (unary != nullptr) {
        unary(dst + at, a + at, bytes / width);
      } else {
        withScalar(dst + at, a + at, scalar, bytes / width);
      }
    });
  }
};

class Strips {
 public:
  static constexpr size_t kStripBytes = 8192;

  explicit Strips(ReadAhead& ahead) : ahead_(ahead) {}

  // Adds the instruction on `bytes` of each operand, elements of `width`; b may be null. What cannot run beside it runs before.
  void Add(const LaneCall& call, uint8_t* dst, uint8_t* a, uint8_t* b, size_t width, size_t bytes);
  // Everything that waits.
  void Run() {
    if (!waiting_.empty()) {
      RunAll();
    }
  }

 private:
  struct Instruction {
    LaneCall call;
    std::array<uint8_t*, 3> operands;  // the first is written
  };
  bool Apart(const Instruction& later) const;
  void RunAll();

  ReadAhead& ahead_;
  std::vector<Instruction> waiting_;
  size_t width_ = 0;
  size_t bytes_ = 0;
};

}  // namespace aclsim
