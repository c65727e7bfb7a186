// SPDX-License-Identifier: Apache-2.0
// A core in a call of Meeting.
#pragma once

#include "engine/core.h"
#include "host/crash.h"

namespace aclsim {

// A core's work here is not the kernel's own code, however long others hold it up.
class InMeeting {
 public:
  explicit InMeeting(Core& core) : core_(core) { core_.ownTime.Enters(); }
  ~InMeeting() { core_.ownTime.Leaves(); }
  InMeeting(const InMeeting&) = delete;
  InMeeting& operator=(const InMeeting&) = delete;

 private:
  Core& core_;
  // Words and atomic copies are in memory that a program may free meanwhile.
  const HoldsLocks holdsLocks_;
};

}  // namespace aclsim
