// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace aclsim {

// The variables that each core has of its own (__BLOCK_LOCAL__): thread-local ones of the kernel's library. A core stays on its host
// thread, but the thread runs several, one after the other.
class BlockLocals {
 public:
  // Takes those of the library that has this code.
  explicit BlockLocals(const void* code);

  // Around one core, on its host thread: the variables are as the source says, and afterwards as they were. The library may be a
  // program, whose own thread-local variables are among them.
  class OfCore {
   public:
    explicit OfCore(const BlockLocals& all);
    ~OfCore();
    OfCore(const OfCore&) = delete;
    OfCore& operator=(const OfCore&) = delete;

   private:
    uint8_t* at_ = nullptr;
    std::vector<uint8_t> before_;
  };

 private:
  const void* code_;
  const uint8_t* image_ = nullptr;  // their first values; the rest of the bytes is zero
  uint64_t given_ = 0, bytes_ = 0;
};

}  // namespace aclsim
