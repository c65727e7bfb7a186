// SPDX-License-Identifier: Apache-2.0
#include "runtime/pending.h"

#include <algorithm>

namespace aclsim {

namespace {

bool Collide(const PendingWork::Use& use, uintptr_t begin, uintptr_t end) {
  if (use.begin >= end || begin >= use.end) {
    return false;
  }
  // Of a use with gaps only the ends are sure.
  return !use.gaps || begin <= use.begin || end >= use.end;
}

}  // namespace

void PendingWork::Add(uint64_t stream, uint64_t ticket, const std::vector<DeviceUse>& uses,
                      const std::string& by, const void* caller) {
  if (uses.empty()) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  StreamWork& work = streams_[stream];
  if (ticket <= work.synchronized) {
    return;  // another thread has waited for it meanwhile
  }
  for (const DeviceUse& use : uses) {
    const auto begin = reinterpret_cast<uintptr_t>(use.start);
    const uintptr_t end = begin + use.bytes;
    work.uses[{begin, end, use.write}] = {begin,  end, use.write, use.gaps, stream,
                                          ticket, by,  use.name,  caller};
  }
}

void PendingWork::AddWait(uint64_t stream, uint64_t ticket, uint64_t onStream, uint64_t onTicket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto other = streams_.find(onStream);
  if (other != streams_.end() && other->second.synchronized < onTicket) {
    streams_[stream].waits.push_back({ticket, onStream, onTicket});
  }
}

void PendingWork::Synchronized(uint64_t stream, uint64_t ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::pair<uint64_t, uint64_t>> todo = {{stream, ticket}};
  while (!todo.empty()) {
    const auto [id, upTo] = todo.back();
    todo.pop_back();
    StreamWork& work = streams_[id];
    work.synchronized = std::max(work.synchronized, upTo);
    for (auto use = work.uses.begin(); use != work.uses.end();) {
      use = use->second.ticket <= upTo ? work.uses.erase(use) : std::next(use);
    }
    const auto done = [limit = upTo](const Wait& wait) { return wait.ticket <= limit; };
    for (const Wait& wait : work.waits) {
      if (done(wait)) {
        todo.emplace_back(wait.onStream, wait.onTicket);
      }
    }
    work.waits.erase(std::remove_if(work.waits.begin(), work.waits.end(), done), work.waits.end());
    if (upTo == UINT64_MAX) {
      streams_.erase(id);
    }
  }
}

std::optional<PendingWork::Use> PendingWork::Conflict(const void* begin, uint64_t bytes,
                                                      bool write) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [id, work] : streams_) {
    for (const auto& [key, use] : work.uses) {
      if ((write || use.write) && Collide(use, first, first + bytes)) {
        return use;
      }
    }
  }
  return std::nullopt;
}

std::vector<PendingWork::Use> PendingWork::TakeBlock(uintptr_t begin, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Use> taken;
  for (auto& [id, work] : streams_) {
    for (auto use = work.uses.begin(); use != work.uses.end();) {
      if (use->second.begin < begin + bytes && begin < use->second.end) {
        taken.push_back(use->second);
        use = work.uses.erase(use);
      } else {
        ++use;
      }
    }
  }
  return taken;
}

}  // namespace aclsim
