// SPDX-License-Identifier: Apache-2.0
#include "runtime/pending.h"

#include <algorithm>

#include "runtime/host_watch.h"

namespace aclsim {

namespace {

constexpr size_t kMostEarly = 64;

bool Collide(const PendingWork::Use& use, uintptr_t begin, uintptr_t end) {
  if (use.begin >= end || begin >= use.end) {
    return false;
  }
  // Only the ends of a use with gaps are sure.
  return !use.gaps || begin <= use.begin || end >= use.end;
}

}  // namespace

std::shared_ptr<const PendingWork::Clock> PendingWork::ClockLocked(StreamWork& work) {
  if (work.clock == nullptr || work.clockOf != hostState_) {
    auto clock = std::make_shared<Clock>(work.known);
    for (const auto& [id, other] : streams_) {
      if (other.synchronized > 0) {
        uint64_t& upTo = (*clock)[id];
        upTo = std::max(upTo, other.synchronized);
      }
    }
    work.clock = std::move(clock);
    work.clockOf = hostState_;
  }
  return work.clock;
}

bool PendingWork::OrderedLocked(const Use& earlier, const Use& later) const {
  if (earlier.stream == later.stream) {
    return true;
  }
  const auto knows = [](const Use& use, const Use& other) {
    if (use.after == nullptr) {
      return true;
    }
    const auto upTo = use.after->find(other.stream);
    return upTo != use.after->end() && upTo->second >= other.ticket;
  };
  return knows(later, earlier) || knows(earlier, later);
}

void PendingWork::RaceLocked(const Use& use, std::vector<Race>* races) const {
  const auto own = streams_.find(use.stream);
  if (own != streams_.end() && own->second.byValue) {
    return;
  }
  const auto compare = [&](const Use& other) {
    if (!other.maybe && (use.write || other.write) && !other.gaps && !use.gaps &&
        Collide(other, use.begin, use.end) && !OrderedLocked(other, use)) {
      races->push_back({other, use});
    }
  };
  for (const auto& [id, work] : streams_) {
    if (id == use.stream || work.byValue || work.uses.empty()) {
      continue;
    }
    if (const auto upTo = use.after->find(id);
        upTo != use.after->end() && upTo->second >= work.newest) {
      continue;
    }
    for (const auto& [key, other] : work.uses) {
      compare(other);
    }
  }
  for (const Use& other : past_) {
    compare(other);
  }
}

void PendingWork::InsertLocked(StreamWork& work, Use use) {
  work.newest = std::max(work.newest, use.ticket);
  Use& known = work.uses[{use.begin, use.end, use.write}];
  if (use.ticket >= known.ticket) {
    known = std::move(use);
  }
}

std::vector<PendingWork::Race> PendingWork::Add(uint64_t stream, uint64_t ticket,
                                                const std::vector<DeviceUse>& uses,
                                                const std::string& by, const void* caller,
                                                bool maybe) {
  std::vector<Race> races;
  if (uses.empty()) {
    return races;
  }
  const std::lock_guard lock(mutex_);
  StreamWork& work = streams_[stream];
  if (ticket <= work.synchronized) {
    return races;  // another thread has waited for it meanwhile
  }
  const std::shared_ptr<const Clock> after = ClockLocked(work);
  std::vector<Use> all;
  for (const DeviceUse& use : uses) {
    const auto begin = reinterpret_cast<uintptr_t>(use.start);
    all.push_back({begin, begin + use.bytes, use.write, use.gaps, maybe, stream, ticket, by,
                   use.name, caller, after});
  }
  if (maybe) {
    if (const auto early = early_.find({stream, ticket}); early != early_.end()) {
      std::vector<Use> told;
      for (const Range& range : early->second) {
        const auto within = std::ranges::find_if(
            all, [&](const Use& use) { return use.begin <= range.begin && range.end <= use.end; });
        if (within != all.end()) {
          Use use = *within;
          use.begin = range.begin;
          use.end = range.end;
          use.write = range.write;
          use.maybe = false;
          told.push_back(std::move(use));
        }
      }
      early_.erase(early);
      all = std::move(told);
    } else {
      untold_.insert({stream, ticket});
    }
  }
  for (Use& use : all) {
    if (!use.maybe) {
      RaceLocked(use, &races);
    }
    InsertLocked(work, std::move(use));
  }
  return races;
}

std::vector<PendingWork::Race> PendingWork::Touched(uint64_t stream, uint64_t ticket,
                                                    const std::vector<Range>& ranges) {
  std::vector<Race> races;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (untold_.erase({stream, ticket}) == 0 || found == streams_.end()) {
    if (early_.size() >= kMostEarly) {
      early_.erase(early_.begin());
    }
    early_[{stream, ticket}] = ranges;
    return races;
  }
  StreamWork& work = found->second;
  std::vector<Use> might;
  std::erase_if(work.uses, [&](const auto& entry) {
    const bool mine = entry.second.maybe && entry.second.ticket == ticket;
    if (mine) {
      might.push_back(entry.second);
    }
    return mine;
  });
  for (const Range& range : ranges) {
    const auto within = std::ranges::find_if(
        might, [&](const Use& use) { return use.begin <= range.begin && range.end <= use.end; });
    if (within == might.end()) {
      continue;
    }
    Use use = *within;
    use.begin = range.begin;
    use.end = range.end;
    use.write = range.write;
    use.maybe = false;
    RaceLocked(use, &races);
    InsertLocked(work, std::move(use));
  }
  if (untold_.empty()) {
    past_.clear();
  }
  return races;
}

PendingWork::Clock PendingWork::At(uint64_t stream, uint64_t ticket) const {
  const std::lock_guard lock(mutex_);
  Clock clock;
  if (const auto found = streams_.find(stream); found != streams_.end()) {
    clock = found->second.known;
  }
  for (const auto& [id, work] : streams_) {
    if (work.synchronized > 0) {
      clock[id] = std::max(clock[id], work.synchronized);
    }
  }
  clock[stream] = std::max(clock[stream], ticket);
  return clock;
}

void PendingWork::AddWait(uint64_t stream, uint64_t ticket, uint64_t onStream, uint64_t onTicket,
                          const Clock& captured) {
  const std::lock_guard lock(mutex_);
  StreamWork& work = streams_[stream];
  for (const auto& [id, upTo] : captured) {
    work.known[id] = std::max(work.known[id], upTo);
  }
  work.clock = nullptr;
  const auto other = streams_.find(onStream);
  if (other != streams_.end() && other->second.synchronized < onTicket) {
    work.waits.push_back({ticket, onStream, onTicket});
  }
}

void PendingWork::AddValueWait(uint64_t stream) {
  const std::lock_guard lock(mutex_);
  streams_[stream].byValue = true;
}

void PendingWork::Synchronized(uint64_t stream, uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  ++hostState_;
  std::vector<std::pair<uint64_t, uint64_t>> todo = {{stream, ticket}};
  while (!todo.empty()) {
    const auto [id, upTo] = todo.back();
    todo.pop_back();
    StreamWork& work = streams_[id];
    work.synchronized = std::max(work.synchronized, upTo);
    HostWatch::Release(id, upTo);
    std::erase_if(untold_, [&, id = id, upTo = upTo](const auto& task) {
      return task.first == id && task.second <= upTo;
    });
    for (auto use = work.uses.begin(); use != work.uses.end();) {
      if (use->second.ticket > upTo) {
        ++use;
        continue;
      }
      if (!untold_.empty() && !use->second.maybe) {
        past_.push_back(std::move(use->second));
      }
      use = work.uses.erase(use);
    }
    const auto done = [limit = upTo](const Wait& wait) { return wait.ticket <= limit; };
    for (const Wait& wait : work.waits) {
      if (done(wait)) {
        todo.emplace_back(wait.onStream, wait.onTicket);
      }
    }
    work.waits.erase(std::remove_if(work.waits.begin(), work.waits.end(), done), work.waits.end());
    if (upTo == UINT64_MAX) {
      std::erase_if(past_, [&, id = id](const Use& use) { return use.stream == id; });
      streams_.erase(id);
    }
  }
  if (untold_.empty()) {
    past_.clear();
  }
}

std::vector<std::pair<uint64_t, uint64_t>> PendingWork::MayUse(const void* begin,
                                                               uint64_t bytes) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<uint64_t, uint64_t>> tasks;
  for (const auto& [id, work] : streams_) {
    for (const auto& [key, use] : work.uses) {
      if (use.maybe && Collide(use, first, first + bytes)) {
        tasks.emplace_back(id, use.ticket);
      }
    }
  }
  return tasks;
}

std::optional<PendingWork::Use> PendingWork::Conflict(const void* begin, uint64_t bytes,
                                                      bool write) const {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
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
