// SPDX-License-Identifier: Apache-2.0
// Where the cores of one launch wait for each other: SyncAll, cross-core flags.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/core.h"

namespace aclsim {

// Ends a core whose peer has failed; the peer's finding says why.
struct CoreAbandoned {};

class Meeting {
 public:
  explicit Meeting(uint32_t cores);

  // The calling core has reached SyncAll number n of `participants` cores; returns when all have.
  void SyncAll(Core& core, uint32_t participants);
  // Every core counts up its flag; a wait passes when all cores have set the flag as often as this core waits for it.
  void SetFlag(Core& core, uint16_t flag);
  void WaitFlag(Core& core, uint16_t flag);
  // IBSet and IBWait: one core marks a slot of memory, another one takes the mark away.
  void Mark(Core& core, uint64_t slot);
  void TakeMark(Core& core, uint64_t slot);
  // WaitPreBlock and NotifyNextBlock: the cores have their turns in ascending order, round after round.
  void AwaitTurn(Core& core);
  void PassTurn(Core& core);
  // A scalar past the data cache. Load: whether another core stored what it reads. A core that reads the same value over and
  // over waits until it has changed.
  void Store(Core& core, uint8_t* to, const void* value, uint32_t bytes);
  bool Load(Core& core, const uint8_t* from, void* value, uint32_t bytes);
  // A core has left the kernel; failed: with a fault. Whoever still waits for it can never pass.
  void Leave(uint32_t core, bool failed);
  // Sums that the cores have told of take effect: those of all, in their order, or of one that reads or overwrites such bytes.
  void Publish();
  void SettleAtomics(Core& core, const uint8_t* begin, uint64_t bytes);

 private:
  static constexpr size_t kFlags = 16;

  // looks: nobody tells when the condition has come true.
  void Wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& passes,
            const std::function<std::string()>& what, bool looks = false);
  std::string Absent(const std::function<bool(uint32_t)>& there) const;
  void Tell(Core& core);
  void Apply(uint32_t core, uint64_t upTo);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<uint32_t> arrivals_;  // SyncAll calls, by core
  std::vector<std::array<uint32_t, kFlags>> sets_, waits_;
  std::map<uint64_t, uint32_t> marks_;  // by address of the slot
  struct Poll {
    const uint8_t* address = nullptr;
    std::vector<uint8_t> value;
    uint32_t count = 0;
  };
  std::vector<Poll> polls_;                    // of Load, by core
  std::map<const uint8_t*, uint32_t> stored_;  // by Store: address -> core
  uint64_t turn_ = 0;                          // PassTurn calls of all cores
  std::vector<uint64_t> rounds_;               // AwaitTurn calls, by core
  // By core: sums that it has told of and the others have yet to meet for; how many have taken effect before those; and for each
  // set of a flag that some core has yet to set, how many it told of.
  std::vector<std::vector<AtomicWrite>> atomics_;
  std::vector<uint64_t> applied_;
  std::vector<std::array<std::deque<uint64_t>, kFlags>> told_;
  std::vector<const std::function<bool()>*> waiting_;
  uint32_t alive_;
  bool failed_ = false;
  bool stuck_ = false;
  // Where faults do not end the launch: cores that a fault has ended count as having been everywhere.
  const bool keepGoing_;
  std::vector<bool> dead_;
  bool died_ = false;       // one of them
  uint32_t published_ = 0;  // number of the last SyncAll that cores went on from without one
};

}  // namespace aclsim
