// SPDX-License-Identifier: Apache-2.0
// Pinned memory that enqueued copies read or write and the host has not waited for: its pages are protected, so that host code that
// writes what a copy has yet to read, or reads what it has yet to write, is seen at its line. Whether the copy happens to be done
// makes no difference. The access itself goes on as if nothing had been.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/host_memory.h"

namespace aclsim {

class HostWatch {
 public:
  // Tells what a copy is about to do to [begin, begin + bytes) of a pinned block; 0: it is not watched. Before the copy is enqueued.
  static uint64_t Begin(const std::shared_ptr<const HostMemory::Block>& block, const void* begin,
                        uint64_t bytes, bool writes, const char* by, const void* caller);
  // The copy is that task.
  static void Enqueued(uint64_t watch, uint64_t stream, uint64_t ticket);
  // The host knows that the stream has come to ticket.
  static void Release(uint64_t stream, uint64_t ticket);
  // The block is freed.
  static void ReleaseBlock(const HostMemory::Block& block);

  // Copies as the simulator itself may, while the pages stay protected, so that host code that uses them meanwhile is seen too.
  // False: nothing is watched, or the system does not allow it; the caller opens the pages then.
  static bool CopyPast(void* dst, const void* src, uint64_t bytes);

  // While it lives, anybody may use the bytes.
  class Open {
   public:
    Open(const void* begin, uint64_t bytes);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

   private:
    const uintptr_t begin_;
    const uintptr_t end_;
  };

  // In the handler of SIGSEGV. True: the instruction may run again.
  static bool Handle(const siginfo_t* info, const void* context);
};

}  // namespace aclsim
