// SPDX-License-Identifier: Apache-2.0
// Device memory that enqueued work uses and the host has not waited for. By sequence numbers alone:
// whether the work happens to be done already makes no difference.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/runtime.h"

namespace aclsim {

class PendingWork {
 public:
  struct Use {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    bool write = false;
    bool gaps = false;
    uint64_t stream = 0;
    uint64_t ticket = 0;
    std::string by;    // the function that enqueued it
    std::string name;  // "argument out"
    const void* caller = nullptr;
  };

  void Add(uint64_t stream, uint64_t ticket, const std::vector<DeviceUse>& uses,
           const std::string& by, const void* caller);
  // Work of `stream` from `ticket` on begins after onTicket of onStream.
  void AddWait(uint64_t stream, uint64_t ticket, uint64_t onStream, uint64_t onTicket);
  // The host knows that everything up to ticket is done, and what that waited for.
  void Synchronized(uint64_t stream, uint64_t ticket);
  void Forget(uint64_t stream) { Synchronized(stream, UINT64_MAX); }

  // The first use that a host access to [begin, begin + bytes) collides with.
  std::optional<Use> Conflict(const void* begin, uint64_t bytes, bool write) const;
  // Every use of freed memory; they are forgotten.
  std::vector<Use> TakeBlock(uintptr_t begin, uint64_t bytes);

 private:
  struct Wait {
    uint64_t ticket;
    uint64_t onStream;
    uint64_t onTicket;
  };
  struct StreamWork {
    uint64_t synchronized = 0;
    std::map<std::tuple<uintptr_t, uintptr_t, bool>, Use> uses;  // the youngest of equal ones
    std::vector<Wait> waits;
  };

  mutable std::mutex mutex_;
  std::map<uint64_t, StreamWork> streams_;
};

}  // namespace aclsim
