// SPDX-License-Identifier: Apache-2.0
// Counts instructions and the GM bytes that the copy pipes move.
#pragma once

#include "engine/core.h"

namespace aclsim {

class TrafficObserver : public Observer {
 public:
  void OnRecord(Core&, const Record& record) override {
    ++instructions_;
    if (record.pipe == Pipe::kScalar || record.pipe == Pipe::kVector) {
      return;
    }
    for (int i = 0; i < record.accessCount; ++i) {
      const Access& access = record.access[static_cast<size_t>(i)];
      if (access.InGm()) {
        (access.use == Use::kWrite ? gmWrite_ : gmRead_) += access.TotalBytes();
      }
    }
  }
  void OnRegisters(Core&, const RegisterAccess&) override { ++instructions_; }
  void AddTo(LaunchStats* stats) const {
    stats->instructions += instructions_;
    stats->gmReadBytes += gmRead_;
    stats->gmWriteBytes += gmWrite_;
  }

 private:
  uint64_t instructions_ = 0;
  uint64_t gmRead_ = 0;
  uint64_t gmWrite_ = 0;
};

}  // namespace aclsim
