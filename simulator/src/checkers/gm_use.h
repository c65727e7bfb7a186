// SPDX-License-Identifier: Apache-2.0
// GM that cores share: conflicting accesses of different cores with no SyncAll between them, and scalar writes that stay in a
// core's data cache.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "engine/core.h"

namespace aclsim {

struct GmAccess {
  uint64_t begin = 0, end = 0;
  uint32_t epoch = 0;  // SyncAll calls before it
  uint32_t core = 0;
  uint32_t place = 0;  // in GmUse::places
  bool write = false;
  bool atomic = false;
  bool scalar = false;  // through the data cache
  bool cached = false;  // and still there
};

// What one core did to GM that somebody writes.
class GmUse : public Observer {
 public:
  void OnRecord(Core& core, const Record& record) override;
  void OnSync(Core& core, const SyncEvent& event) override;
  void OnCacheClean(Core& core, uint64_t begin, uint64_t end) override;

  struct PlaceInfo {
    const char* name;
    Pipe pipe;
    std::vector<void*> stack;
  };
  std::vector<GmAccess> accesses;
  std::vector<PlaceInfo> places;
  bool flagged = false;  // cores are ordered by more than SyncAll: conflicts are not judged

 private:
  void Add(const Core& core, const Record& record, const Access& access);
  uint32_t PlaceOf(const Core& core, const Record& record);

  uint32_t epoch_ = 0;
  std::map<uint32_t, uint32_t> placeOf_;  // site -> place
  std::map<uint64_t, uint32_t> dirty_;    // written bytes not yet cleaned: begin of a line -> place
  std::set<std::pair<uint32_t, uint32_t>> reported_;
};

// Conflicts between the cores of one launch.
std::vector<Finding> FindGmConflicts(const KernelLaunch& launch, const std::vector<GmUse*>& cores);

}  // namespace aclsim
