// SPDX-License-Identifier: Apache-2.0
// Memory that enqueued work uses and the host has not waited for: device memory, and pinned memory of the host. What comes before
// what is known by sequence numbers alone: whether work happens to be done already makes no difference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/lock.h"
#include "runtime/runtime.h"

namespace aclsim {

class PendingWork {
 public:
  // By stream, up to which of its tasks everything is done.
  using Clock = std::map<uint64_t, uint64_t>;
  struct Use {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    bool write = false;
    bool gaps = false;
    bool maybe = false;  // only the run shows which of these bytes are used, and how
    uint64_t stream = 0;
    uint64_t ticket = 0;
    std::string by;    // the function that enqueued it
    std::string name;  // "argument out"
    const void* caller = nullptr;
    std::shared_ptr<const Clock> after = nullptr;  // what comes before the task
  };
  struct Range {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    bool write = false;
  };
  // Two uses of the same bytes by two streams that nothing orders.
  struct Race {
    Use first;
    Use second;
  };

  std::vector<Race> Add(uint64_t stream, uint64_t ticket, const std::vector<DeviceUse>& uses,
                        const std::string& by, const void* caller, bool maybe = false);
  // The task has run, and this is what it has used of what it might use.
  std::vector<Race> Touched(uint64_t stream, uint64_t ticket, const std::vector<Range>& ranges);
  // Returns what is done when `stream` has come to `ticket`.
  Clock At(uint64_t stream, uint64_t ticket) const;
  // Work of `stream` from `ticket` on begins after onTicket of onStream, and after what that knew.
  void AddWait(uint64_t stream, uint64_t ticket, uint64_t onStream, uint64_t onTicket,
               const Clock& captured);
  // The stream waits for a value in memory: nobody knows who writes it.
  void AddValueWait(uint64_t stream);
  // The host knows that everything up to ticket is done, and what that waited for.
  void Synchronized(uint64_t stream, uint64_t ticket);
  void Forget(uint64_t stream) { Synchronized(stream, UINT64_MAX); }

  // The tasks that may use some of [begin, begin + bytes), as stream and ticket.
  std::vector<std::pair<uint64_t, uint64_t>> MayUse(const void* begin, uint64_t bytes) const;
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
  using Key = std::tuple<uintptr_t, uintptr_t, bool>;
  struct StreamWork {
    uint64_t synchronized = 0;
    uint64_t newest = 0;      // ticket with a use
    std::map<Key, Use> uses;  // the youngest of equal ones
    std::vector<Wait> waits;
    Clock known;                         // by the waits so far
    std::shared_ptr<const Clock> clock;  // of the next task
    uint64_t clockOf = 0;                // the state of the host that it was made of
    bool byValue = false;                // it has waited for a value
  };

  std::shared_ptr<const Clock> ClockLocked(StreamWork& work);
  bool OrderedLocked(const Use& earlier, const Use& later) const;
  void RaceLocked(const Use& use, std::vector<Race>* races) const;
  void InsertLocked(StreamWork& work, Use use);

  mutable Mutex<6, "pending work"> mutex_;
  std::map<uint64_t, StreamWork> streams_;
  uint64_t hostState_ = 1;  // changes when the host learns that something is done
  // Tasks of which Touched has yet to tell, and uses that the host has waited for since they were enqueued.
  std::set<std::pair<uint64_t, uint64_t>> untold_;
  std::vector<Use> past_;
  std::map<std::pair<uint64_t, uint64_t>, std::vector<Range>> early_;  // Touched before Add
};

}  // namespace aclsim
