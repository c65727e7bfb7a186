// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "checkers/gm_use.h"

namespace aclsim {

// Happens-before between cores. Set number n of a flag tells what its pipe has done and waited for; wait number n, which is
// after set number n of every core, lets its core know all of that. A mark of IBSet or NotifyNextBlock is one core's alone.
class CoreOrder {
 public:
  explicit CoreOrder(const std::vector<GmUse*>& cores)
      : cores_(cores), now_(cores.size()), known_(cores.size()) {
    std::vector<Cursor> cursors(cores.size());
    for (const GmUse* core : cores) {
      Counts sets;
      for (size_t i = 0; core != nullptr && i < core->syncs.size(); ++i) {
        const CoreSync& sync = core->syncs[i];
        flags_ |= sync.flag != CoreSync::kSyncAll;
        if (!sync.wait) {
          ++rounds_[Next(sync, &sets)].missing;
        }
      }
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t core = 0; core < cores.size(); ++core) {
        while (cores[core] != nullptr && Step(core, &cursors[core])) {
          moved = true;
        }
      }
    }
  }

  // Returns whether byte `at` is done with a when b is issued; clean: and a's value is in GM.
  bool Before(const GmAccess& a, const GmAccess& b, uint64_t at, bool clean = false) const {
    return Before(a, b.core, b.waits, at, clean);
  }
  // When `core` issues what comes after its first `waits` waits.
  bool Before(const GmAccess& a, uint32_t core, uint32_t waits, uint64_t at, bool clean) const {
    const std::vector<Known>& known = known_[core];
    if (waits == 0 || known.empty()) {
      return false;
    }
    const Progress& done = (*known[std::min<size_t>(waits, known.size()) - 1])[a.core];
    return done[static_cast<size_t>(a.pipe)] >= a.CountAt(at) &&
           (!clean || a.cleaned <= done[kCleans]);
  }
  // By more than SyncAll.
  bool Flags() const { return flags_; }

 private:
  using Key = std::array<uint32_t, 3>;  // flag, its memory, number of the set
  using Counts = std::map<std::array<uint32_t, 2>, uint32_t>;
  using Known = std::shared_ptr<const std::vector<Progress>>;  // by core
  struct Round {
    uint32_t missing = 0;  // cores that have yet to set the flag
    std::vector<Progress> done;
    Known joined;   // into done, last
    Known reached;  // the same, for those that wait
    Known covered;  // what is part of it, last
  };
  struct Cursor {
    size_t next = 0;
    Counts sets, waits;
  };

  static Key Next(const CoreSync& sync, Counts* counts) {
    const uint32_t number =
        sync.number != CoreSync::kUncounted ? sync.number : (*counts)[{sync.flag, sync.of}]++;
    return {sync.flag, sync.of, number};
  }

  static void Join(Progress* to, const Progress& from) {
    for (size_t i = 0; i < from.size(); ++i) {
      (*to)[i] = std::max((*to)[i], from[i]);
    }
  }
  static void Join(std::vector<Progress>* to, const std::vector<Progress>& from) {
    for (size_t core = 0; core < from.size(); ++core) {
      Join(&(*to)[core], from[core]);
    }
  }

  // The next set or wait of a core; false when there is none, or a wait that cannot pass yet.
  bool Step(uint32_t core, Cursor* cursor) {
    const std::vector<CoreSync>& syncs = cores_[core]->syncs;
    if (cursor->next == syncs.size()) {
      return false;
    }
    const CoreSync& sync = syncs[cursor->next];
    Known& now = now_[core];
    if (!sync.wait) {
      Round& round = rounds_[Next(sync, &cursor->sets)];
      round.done.resize(cores_.size());
      if (now != nullptr && now != round.joined) {
        Join(&round.done, *now);
        round.joined = now;
      }
      Join(&round.done[core], sync.done);
      --round.missing;
    } else {
      Counts waits = cursor->waits;
      Round& round = rounds_[Next(sync, &waits)];
      if (round.missing > 0 || round.done.empty()) {
        return false;
      }
      cursor->waits = std::move(waits);
      if (round.reached == nullptr) {
        round.reached = std::make_shared<const std::vector<Progress>>(round.done);
      }
      // Mostly a round tells all that the one before did.
      if (now == nullptr || now == round.covered) {
        now = round.reached;
      } else {
        std::vector<Progress> both = *round.reached;
        Join(&both, *now);
        if (both == *round.reached) {
          round.covered = now;
          now = round.reached;
        } else {
          now = std::make_shared<const std::vector<Progress>>(std::move(both));
        }
      }
      known_[core].push_back(now);
    }
    ++cursor->next;
    return true;
  }

  const std::vector<GmUse*>& cores_;
  std::map<Key, Round> rounds_;
  std::vector<Known> now_;                 // by core
  std::vector<std::vector<Known>> known_;  // by core, after each of its waits
  bool flags_ = false;
};

}  // namespace aclsim
