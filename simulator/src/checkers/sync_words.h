// SPDX-License-Identifier: Apache-2.0
// The words of GM by which soft SyncAll, IBSet and IBWait let cores wait for each other: the kernel or its caller must have
// cleared them.
#pragma once

#include <utility>
#include <vector>

#include "checkers/gm_use.h"

namespace aclsim {

// All cores of a launch share this.
class WordsOfAll {
 public:
  explicit WordsOfAll(const std::vector<GmUse*>& cores);
  // Returns whether all bytes that both accesses touch are such words.
  bool Hold(const GmAccess& a, const GmAccess& b) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;  // apart, in ascending order
};

// Words that were not cleared before a core used them, or by another core that nothing orders before it.
std::vector<Finding> FindSyncWords(const KernelLaunch& launch, const std::vector<GmUse*>& cores);

}  // namespace aclsim
