// SPDX-License-Identifier: Apache-2.0
// The checks of one launch: an observer of each kind per core, and what only all cores together show.
#pragma once

#include <memory>
#include <vector>

#include "engine/core.h"

namespace aclsim {

class TrafficObserver;
class GmUse;
class JunkSums;
class GroupFlags;
class SyncUse;

// The observers of one core.
struct CoreChecks {
  std::vector<std::unique_ptr<Observer>> owned;
  std::vector<Observer*> list;
  TrafficObserver* traffic = nullptr;
  // Once, however many ask.
  void AddTraffic();
  void AddTo(LaunchStats* stats) const;
};

class Checks {
 public:
  explicit Checks(const KernelLaunch& launch);
  ~Checks();
  // Called once per core, from several host threads.
  CoreChecks ForCore(uint32_t index);
  // After all cores: what only all of them together show; ended: each has come to its end.
  std::vector<Finding> AcrossCores(bool ended);
  // Gaps in memory that is an output if somebody reads it.
  std::vector<UnwrittenMemory> Unwritten() const;
  // Returns what the cores did to GM that somebody may write; nothing where that would be too much to list.
  std::vector<GmTouch> Touched() const;

 private:
  const KernelLaunch& launch_;
  std::vector<std::unique_ptr<GmUse>> gmUse_;            // by core
  std::vector<std::unique_ptr<GroupFlags>> groupFlags_;  // by AI core
  std::unique_ptr<SyncUse> syncUse_;
  std::unique_ptr<JunkSums> junkSums_;
};

}  // namespace aclsim
