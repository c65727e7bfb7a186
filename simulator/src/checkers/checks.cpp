// SPDX-License-Identifier: Apache-2.0
#include "checkers/checks.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "checkers/gm_use.h"
#include "checkers/outputs.h"
#include "checkers/race.h"
#include "checkers/sync_words.h"
#include "checkers/traffic.h"
#include "checkers/undefined.h"
#include "checkers/writers.h"
#include "engine/core.h"
#include "engine/options.h"

namespace aclsim {

void CoreChecks::AddTraffic() {
  if (traffic == nullptr) {
    auto observer = std::make_unique<TrafficObserver>();
    traffic = observer.get();
    list.push_back(traffic);
    owned.push_back(std::move(observer));
  }
}

void CoreChecks::AddTo(LaunchStats* stats) const {
  if (traffic != nullptr) {
    traffic->AddTo(stats);
  }
}

Checks::Checks(const KernelLaunch& launch)
    : launch_(launch),
      gmUse_(launch.Cores()),
      syncUse_(std::make_unique<SyncUse>()),
      junkSums_(std::make_unique<JunkSums>()) {
  for (uint32_t group = 0; group < launch.Cores() / launch.PerGroup(); ++group) {
    groupFlags_.push_back(std::make_unique<GroupFlags>(launch.PerGroup()));
  }
}

Checks::~Checks() = default;

CoreChecks Checks::ForCore(uint32_t index) {
  CoreChecks checks;
  checks.AddTraffic();
  const CoreKind kind = launch_.KindOf(index);
  const Image image(*launch_.soc, kind, KeepGoing());
  auto race = std::make_unique<RaceObserver>(image.Tracked(), kind, syncUse_.get(),
                                             groupFlags_[launch_.GroupOf(index)].get());
  gmUse_[index] = std::make_unique<GmUse>(*race);
  checks.list.push_back(race.get());
  checks.owned.push_back(std::move(race));
  checks.owned.push_back(std::make_unique<UndefinedObserver>(image.Bytes(), junkSums_.get()));
  checks.list.push_back(checks.owned.back().get());
  checks.list.push_back(gmUse_[index].get());
  return checks;
}

std::vector<Finding> Checks::AcrossCores(bool ended) {
  std::vector<GmUse*> cores;
  for (const auto& use : gmUse_) {
    cores.push_back(use.get());
  }
  std::vector<Finding> findings = SettleWords(launch_, cores);
  if (KeepsWriters()) {
    AddWriters(launch_, cores);
  }
  const auto add = [&](std::vector<Finding> more) {
    std::ranges::move(more, std::back_inserter(findings));
  };
  add(FindSyncWords(launch_, cores));
  add(FindGmConflicts(launch_, cores));
  if (ended) {  // else it is a consequence
    add(FindUnwritten(launch_, cores));
  }
  add(syncUse_->Hints(launch_));
  return findings;
}

std::vector<UnwrittenMemory> Checks::Unwritten() const {
  std::vector<GmUse*> cores;
  for (const auto& use : gmUse_) {
    cores.push_back(use.get());
  }
  return FindUnwrittenIfRead(launch_, cores);
}

std::vector<GmTouch> Checks::Touched() const {
  constexpr size_t kMost = 1 << 18;
  std::vector<GmTouch> all;
  for (const auto& core : gmUse_) {
    for (size_t i = 0; core != nullptr && i < core->accesses.size(); ++i) {
      const GmAccess& access = core->accesses[i];
      if (all.size() + access.rows > kMost) {
        return {};
      }
      for (uint32_t row = 0; row < access.rows; ++row) {
        const GmAccess one = access.Row(row);
        all.push_back({one.begin, one.end, one.write});
      }
    }
  }
  std::ranges::sort(all, [](const GmTouch& a, const GmTouch& b) {
    return std::tie(a.write, a.begin) < std::tie(b.write, b.begin);
  });
  std::vector<GmTouch> joined;
  for (const GmTouch& touch : all) {
    if (!joined.empty() && joined.back().write == touch.write && touch.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, touch.end);
    } else {
      joined.push_back(touch);
    }
  }
  return joined;
}

}  // namespace aclsim
