// SPDX-License-Identifier: Apache-2.0
// Host memory of aclrtMallocHost. Copies to and from it are asynchronous, so it must outlive the
// copies that use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "host/lock.h"

namespace aclsim {

class HostMemory {
 public:
  struct Block {
    uint8_t* start = nullptr;
    uint64_t bytes = 0;
    bool own = true;  // else the program's, which it has registered
    Block(uint8_t* memory, uint64_t size, bool mine = true)
        : start(memory), bytes(size), own(mine) {}
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
  };

  // nullptr when the host has no memory left.
  void* Allocate(uint64_t bytes);
  // False when pointer does not start a live block. A copy in flight keeps the memory until it is
  // done.
  bool Free(const void* pointer);
  // Memory of the program's own. False when some of it is known already; when pointer does not
  // start what is registered.
  bool Register(void* pointer, uint64_t bytes);
  bool Unregister(const void* pointer);
  // The live block that holds pointer, or nullptr.
  std::shared_ptr<const Block> Find(const void* pointer) const;

 private:
  mutable Mutex<6, "host memory"> mutex_;
  std::map<uintptr_t, std::shared_ptr<const Block>> live_;
};

}  // namespace aclsim
